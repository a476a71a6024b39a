// expect: ok
// facility: `future`, `promise`, `async`, `packaged_task`
// A promise is kept by another thread.
#include <cassert>
#include <future>
#include <thread>

int main() {
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread thread([&promise] { promise.set_value(42); });
    assert(future.get() == 42);
    assert(!future.valid());
    thread.join();
}
