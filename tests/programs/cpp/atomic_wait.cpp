// expect: ok
// options: -std=c++20
// facility: `atomic::wait`, `notify_one`, `notify_all`
// Waiting for an atomic object, of any size, to change.
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> number{0};
std::atomic<bool> flag{false};
int data;

int main() {
    std::thread thread([] {
        data = 1;
        number.store(2, std::memory_order_release);
        number.notify_one();
        flag.wait(false);
        assert(data == 3);
    });
    number.wait(0);
    assert(number == 2 && data == 1);
    data = 3;
    flag = true;
    flag.notify_all();
    thread.join();
}
