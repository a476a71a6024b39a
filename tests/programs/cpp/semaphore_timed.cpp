// expect: bug assertion
// line: 16
// options: -std=c++20
// facility: `counting_semaphore`, `binary_semaphore`
// A deadline may pass, whatever the other thread does.
#include <cassert>
#include <chrono>
#include <semaphore>
#include <thread>

std::binary_semaphore ready(0);

int main() {
    std::thread thread([] { ready.release(); });
    bool got = ready.try_acquire_for(std::chrono::seconds(1));
    assert(got);
    thread.join();
}
