// expect: ok
// facility: `chrono`
// When a wait has timed out, its time has come, also in the eyes of the program.
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

int main() {
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock<std::mutex> lock(mutex);
    auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
    if (never.wait_until(lock, deadline) == std::cv_status::timeout)
        assert(std::chrono::steady_clock::now() >= deadline);
}
