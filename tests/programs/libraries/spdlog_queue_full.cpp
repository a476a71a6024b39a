// expect: bug assertion
// enqueue_nowait drops the oldest value if there is no room.
#include <spdlog/common.h>
#include <spdlog/details/mpmc_blocking_q.h>
#include <cassert>
#include <thread>
int main() {
    spdlog::details::mpmc_blocking_queue<int> queue(1);
    std::thread a([&] {
        queue.enqueue_nowait(1);
        queue.enqueue_nowait(2);
    });
    int value = 0, sum = 0;
    if (queue.dequeue_for(value, std::chrono::milliseconds(10))) sum += value;
    a.join();
    if (queue.dequeue_for(value, std::chrono::milliseconds(10))) sum += value;
    assert(queue.overrun_counter() == 0 && sum == 3);
}
