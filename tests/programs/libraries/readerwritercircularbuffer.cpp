// expect: ok
// A consumer that waits for what the producer has, after up to 1,024 looks at a counter.
#include <readerwriterqueue/readerwritercircularbuffer.h>
#include <cassert>
#include <thread>
int main() {
    moodycamel::BlockingReaderWriterCircularBuffer<int> queue(1);
    std::thread producer([&] { queue.wait_enqueue(1); });
    int value;
    queue.wait_dequeue(value);
    assert(value == 1);
    producer.join();
}
