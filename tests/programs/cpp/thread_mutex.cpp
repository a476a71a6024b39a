// expect: ok
// traces: 2
// facility: `thread`, `vector` of threads
// Threads in a vector, a lock guard: what the library does besides is nobody else's business.
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

std::mutex mutex;
int counter;

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back([] {
            std::lock_guard<std::mutex> guard(mutex);
            ++counter;
        });
    for (auto &thread : threads)
        thread.join();
    assert(counter == 2);
}
