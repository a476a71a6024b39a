// expect: bug deadlock
// options: -std=c++20
// facility: `latch`
// One more is expected than will come.
#include <latch>
#include <thread>

int main() {
    std::latch latch(2);
    std::thread thread([&] { latch.count_down(); });
    latch.wait();
    thread.join();
}
