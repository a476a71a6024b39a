// expect: bug deadlock
// line: 15
// facility: `future`, `promise`, `async`, `packaged_task`
// Each waits for what the other promises only afterwards.
#include <future>
#include <thread>

int main() {
    std::promise<int> mine, yours;
    std::future<int> my_future = mine.get_future(), your_future = yours.get_future();
    std::thread thread([&] {
        int value = my_future.get();
        yours.set_value(value);
    });
    mine.set_value(your_future.get());
    thread.join();
}
