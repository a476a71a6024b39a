// expect: bug assertion
// Two producers, although the queue is for one: its own assertion notices.
#include <readerwriterqueue/readerwriterqueue.h>
#include <cassert>
#include <thread>
int main() {
    moodycamel::ReaderWriterQueue<int> queue(2);
    std::thread a([&] { queue.enqueue(1); }), b([&] { queue.enqueue(2); });
    a.join();
    b.join();
    int value, sum = 0;
    while (queue.try_dequeue(value)) sum += value;
    assert(sum == 3);
}
