// expect: ok
// Two producers: nothing is lost.
#include <concurrentqueue/concurrentqueue.h>
#include <cassert>
#include <thread>
int main() {
    moodycamel::ConcurrentQueue<int> queue(2);
    std::thread a([&] { queue.enqueue(1); });
    queue.enqueue(2);
    a.join();
    int value, sum = 0;
    while (queue.try_dequeue(value)) sum += value;
    assert(sum == 3);
}
