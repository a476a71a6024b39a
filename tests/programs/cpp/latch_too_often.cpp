// expect: bug abort
// line: 10
// options: -std=c++20
// facility: `latch`
// More threads count down than the latch was made for, and nobody waits for it.
#include <latch>
#include <thread>

std::latch ready(1);
static void work() { ready.count_down(); }

int main() {
    std::thread thread(work);
    work();
    thread.join();
}
