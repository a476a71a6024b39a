// expect: bug deadlock
// options: -std=c++20
// facility: `barrier`
// A thread leaves without saying so.
#include <barrier>
#include <thread>

int main() {
    std::barrier barrier(2);
    std::thread stays([&] {
        barrier.arrive_and_wait();
        barrier.arrive_and_wait();
    });
    std::thread leaves([&] { barrier.arrive_and_wait(); });
    stays.join();
    leaves.join();
}
