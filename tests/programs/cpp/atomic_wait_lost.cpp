// expect: bug deadlock
// line: 17
// options: -std=c++20
// facility: `atomic::wait`, `notify_one`, `notify_all`
// Nobody tells the thread that waits.
#include <atomic>
#include <thread>

std::atomic<int> number{0};

int main() {
    std::thread thread([] {
        number = 1;
    });

    // The standard lets this go on only when it is notified, or when it looks late enough.
    number.wait(0);
    thread.join();
}
