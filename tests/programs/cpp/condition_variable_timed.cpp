// expect: ok
// facility: `condition_variable`, `condition_variable_any`
// A wait with a deadline ends, whether or not somebody notifies.
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex mutex;
std::condition_variable ready;
bool done;

int main() {
    bool seen = false;
    std::thread waiter([&] {
        std::unique_lock<std::mutex> lock(mutex);
        seen = ready.wait_for(lock, std::chrono::milliseconds(5), [] { return done; });
        assert(seen == done);
    });
    {
        std::lock_guard<std::mutex> guard(mutex);
        done = true;
    }
    ready.notify_one();
    waiter.join();
}
