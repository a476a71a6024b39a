// expect: ok
// One producer and one consumer: values come in order, and none is lost.
#include <readerwriterqueue/readerwriterqueue.h>
#include <cassert>
#include <thread>
int main() {
    moodycamel::ReaderWriterQueue<int> queue(2);
    std::thread producer([&] {
        queue.enqueue(1);
        queue.enqueue(2);
    });
    int value = 0, last = 0;
    for (int i = 0; i < 2; i++)
        if (queue.try_dequeue(value)) {
            assert(value == last + 1);
            last = value;
        }
    producer.join();
    while (queue.try_dequeue(value)) {
        assert(value == last + 1);
        last = value;
    }
    assert(last == 2);
}
