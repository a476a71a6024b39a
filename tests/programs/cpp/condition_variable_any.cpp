// expect: ok
// facility: `condition_variable`, `condition_variable_any`
// Waiting with a lock of another kind.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex mutex;
std::condition_variable_any ready;
bool done;

int main() {
    std::thread waiter([] {
        std::shared_lock<std::shared_mutex> lock(mutex);
        ready.wait(lock, [] { return done; });
        assert(done);
    });
    {
        std::unique_lock<std::shared_mutex> lock(mutex);
        done = true;
    }
    ready.notify_all();
    waiter.join();
}
