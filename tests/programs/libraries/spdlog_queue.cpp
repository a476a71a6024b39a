// expect: ok
// A producer that waits for room, and a consumer that waits with a time limit until it has both values.
#include <spdlog/common.h>
#include <spdlog/details/mpmc_blocking_q.h>
#include <cassert>
#include <thread>
int main() {
    spdlog::details::mpmc_blocking_queue<int> queue(1);
    std::thread a([&] {
        queue.enqueue(1);
        queue.enqueue(2);
    });
    int sum = 0, value;
    while (sum < 3)
        if (queue.dequeue_for(value, std::chrono::milliseconds(10))) sum += value;
    a.join();
}
