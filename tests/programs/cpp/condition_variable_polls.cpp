// expect: ok
// engine: stateful
// facility: `condition_variable`, `condition_variable_any`
// Waiting again and again for a short time, until somebody is done.
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex mutex;
std::condition_variable changed;
bool done;

int main() {
    std::thread waiter([] {
        std::unique_lock<std::mutex> lock(mutex);
        while (!done)
            changed.wait_for(lock, std::chrono::milliseconds(10));
        assert(done);
    });
    {
        std::lock_guard<std::mutex> guard(mutex);
        done = true;
    }
    waiter.join();
}
