// expect: ok
// weakened: -DSEND=std::memory_order_relaxed -> race; sc: race
// weakened: -DTRY=std::memory_order_relaxed -> race; sc: race
// weakened: -DCLOSE=std::memory_order_release -> race; sc: race
// weakened: -DCLOSE=std::memory_order_acquire -> race; sc: race
// A channel for one value, whose two ends share a state on the heap: each closes its end when it is done, and the
// second one to do so destroys it, with the value if it was not fetched.
#include <atomic>
#include <cassert>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

// Releases the value.
#ifndef SEND
#define SEND std::memory_order_release
#endif
// Acquires it.
#ifndef TRY
#define TRY std::memory_order_acquire
#endif
// Releases what this end has done, and acquires what the other one has.
#ifndef CLOSE
#define CLOSE std::memory_order_acq_rel
#endif

template <class T>
class Channel {
public:
    static constexpr int sent = 1, closed = 2;

    void send(T value) {
        value_.emplace(std::move(value));
        state_.fetch_or(sent, SEND);
    }
    std::optional<T> try_receive() {
        if ((state_.load(TRY) & sent) == 0) return std::nullopt;
        return std::exchange(value_, std::nullopt);
    }
    static void close(Channel* channel) {
        if (channel->state_.fetch_or(closed, CLOSE) & closed) delete channel;
    }

private:
    std::atomic<int> state_{0};
    std::optional<T> value_;
};

using Letters = Channel<std::unique_ptr<int>>;

int main() {
    auto* const channel = new Letters();
    std::thread sender([channel] {
        channel->send(std::make_unique<int>(42));
        Letters::close(channel);
    });
    std::thread receiver([channel] {
        if (const auto letter = channel->try_receive()) assert(**letter == 42);
        Letters::close(channel);
    });
    sender.join();
    receiver.join();
}
