// expect: ok
// options: -std=c++20
// facility: `barrier`
// Two rounds; what is done between them is done once.
#include <barrier>
#include <cassert>
#include <thread>

int main() {
    int rounds = 0;
    auto completion = [&]() noexcept { rounds++; };
    std::barrier barrier(2, completion);
    auto work = [&] {
        barrier.arrive_and_wait();
        assert(rounds == 1);
        barrier.arrive_and_wait();
    };
    std::thread first(work), second(work);
    first.join();
    second.join();
    assert(rounds == 2);
}
