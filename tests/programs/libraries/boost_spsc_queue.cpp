// expect: ok
// One producer and one consumer: values come in order, and none is lost.
#include <boost/lockfree/spsc_queue.hpp>
#include <cassert>
#include <thread>
int main() {
    boost::lockfree::spsc_queue<int, boost::lockfree::capacity<2>> queue;
    std::thread a([&] {
        queue.push(1);
        queue.push(2);
    });
    int value, last = 0;
    for (int i = 0; i < 2; i++)
        if (queue.pop(value)) {
            assert(value == last + 1);
            last = value;
        }
    a.join();
    while (queue.pop(value)) {
        assert(value == last + 1);
        last = value;
    }
    assert(last == 2);
}
