// expect: bug assertion
// Between producers, there is no order.
#include <concurrentqueue/concurrentqueue.h>
#include <cassert>
#include <thread>
int main() {
    moodycamel::ConcurrentQueue<int> queue(2);
    std::thread a([&] { queue.enqueue(1); });
    queue.enqueue(2);
    a.join();
    int value;
    assert(queue.try_dequeue(value) && value == 2);  // there is no order between producers
    assert(queue.try_dequeue(value) && value == 1);
}
