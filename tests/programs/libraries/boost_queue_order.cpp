// expect: bug assertion
// Between producers, there is no order.
#include <boost/lockfree/queue.hpp>
#include <cassert>
#include <thread>
int main() {
    boost::lockfree::queue<int> queue(2);
    int x = 0;
    std::thread a([&] { queue.push(1); });
    queue.push(2);
    queue.pop(x);
    a.join();
    assert(x == 2);  // the other may have been first
}
