// expect: bug deadlock
// try_enqueue fails if the first value has not been taken yet: there is no second one to wait for.
#include <readerwriterqueue/readerwritercircularbuffer.h>
#include <cassert>
#include <thread>
int main() {
    moodycamel::BlockingReaderWriterCircularBuffer<int> queue(1);
    std::thread producer([&] {
        queue.wait_enqueue(1);
        queue.try_enqueue(2);
    });
    int value;
    queue.wait_dequeue(value);
    queue.wait_dequeue(value);
    producer.join();
}
