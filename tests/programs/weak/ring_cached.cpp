// expect: ok
// weakened: -DPUT=std::memory_order_relaxed -> race; sc: race
// weakened: -DSEE=std::memory_order_relaxed -> race; sc: race
// weakened: -DTAKE=std::memory_order_relaxed -> race; sc: race
// weakened: -DROOM=std::memory_order_relaxed -> race; sc: race
// A ring for one producer and one consumer, each of which remembers how far the other one was when it last looked.
#include <atomic>
#include <cassert>
#include <optional>
#include <thread>

#ifndef PUT
#define PUT std::memory_order_release
#endif
#ifndef SEE
#define SEE std::memory_order_acquire
#endif
#ifndef TAKE
#define TAKE std::memory_order_release
#endif
#ifndef ROOM
#define ROOM std::memory_order_acquire
#endif

template <class T, unsigned size>
class Ring {
public:
    bool put(T value) {
        const unsigned mine = end_.load(std::memory_order_relaxed);
        if (mine - begin_seen_ == size) {
            begin_seen_ = begin_.load(ROOM);
            if (mine - begin_seen_ == size) return false;
        }
        slots_[mine & (size - 1)] = value;
        end_.store(mine + 1, PUT);
        return true;
    }
    std::optional<T> take() {
        const unsigned mine = begin_.load(std::memory_order_relaxed);
        if (end_seen_ == mine) {
            end_seen_ = end_.load(SEE);
            if (end_seen_ == mine) return std::nullopt;
        }
        T value = slots_[mine & (size - 1)];
        begin_.store(mine + 1, TAKE);
        return value;
    }

private:
    T slots_[size] = {};
    std::atomic<unsigned> begin_{0}, end_{0};
    unsigned begin_seen_ = 0, end_seen_ = 0;  // each is known to one side only
};

static Ring<int, 2> ring;

int main() {
    std::thread producer([] {
        int next = 1;
        for (int tries = 0; tries < 4; ++tries)
            if (ring.put(next)) ++next;
    });
    std::thread consumer([] {
        int next = 1;
        for (int tries = 0; tries < 3; ++tries)
            if (const auto value = ring.take()) assert(*value == next++);
    });
    producer.join();
    consumer.join();
}
