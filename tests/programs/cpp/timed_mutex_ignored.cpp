// expect: bug assertion
// line: 23
// facility: `timed_mutex`
// The lock was not had in time, and nobody looks.
#include <cassert>
#include <chrono>
#include <mutex>
#include <thread>

std::timed_mutex mutex;
int counter;

int main() {
    std::thread thread([] {
        std::unique_lock<std::timed_mutex> lock(mutex, std::chrono::seconds(1));
        if (lock)
            counter++;
    });
    mutex.lock();
    counter++;
    mutex.unlock();
    thread.join();
    assert(counter == 2);
}
