// expect: bug assertion
// Two producers, although the queue is for one: a value is lost.
#include <boost/lockfree/spsc_queue.hpp>
#include <cassert>
#include <thread>
int main() {
    boost::lockfree::spsc_queue<int, boost::lockfree::capacity<2>> queue;
    std::thread a([&] { queue.push(1); });
    queue.push(2);
    a.join();
    int value, sum = 0;
    while (queue.pop(value)) sum += value;
    assert(sum == 3);
}
