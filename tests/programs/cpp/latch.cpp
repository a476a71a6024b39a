// expect: ok
// options: -std=c++20
// facility: `latch`
// Everybody has written before anybody reads.
#include <cassert>
#include <latch>
#include <thread>

int main() {
    std::latch latch(2);
    int left = 0, right = 0;
    std::thread first([&] {
        left = 1;
        latch.arrive_and_wait();
        assert(right == 1);
    });
    std::thread second([&] {
        right = 1;
        latch.arrive_and_wait();
        assert(left == 1);
    });
    first.join();
    second.join();
    assert(latch.try_wait());
}
