// expect: ok
// facility: `future`, `promise`, `async`, `packaged_task`
// A task that another thread runs, with a future for what it returns.
#include <cassert>
#include <future>
#include <thread>

int main() {
    std::packaged_task<int(int)> task([](int number) { return 2 * number; });
    std::future<int> doubled = task.get_future();
    std::thread thread(std::move(task), 21);
    assert(doubled.get() == 42);
    thread.join();
}
