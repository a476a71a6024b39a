// expect: ok
// facility: `timed_mutex`
// A lock with a deadline may or may not be had in time.
#include <cassert>
#include <chrono>
#include <mutex>
#include <thread>

std::timed_mutex mutex;
int counter;

int main() {
    bool counted = false;
    std::thread thread([&] {
        if (mutex.try_lock_for(std::chrono::milliseconds(10))) {
            counter++;
            counted = true;
            mutex.unlock();
        }
    });
    mutex.lock();
    counter++;
    mutex.unlock();
    thread.join();
    assert(counter == (counted ? 2 : 1));
}
