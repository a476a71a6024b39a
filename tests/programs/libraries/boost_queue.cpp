// expect: ok
// Two producers, one of which takes a value back: none is lost.
#include <boost/lockfree/queue.hpp>
#include <cassert>
#include <thread>
int main() {
    boost::lockfree::queue<int> queue(2);
    int x = 0, y = 0;
    std::thread a([&] { queue.push(1); });
    queue.push(2);
    queue.pop(y);
    a.join();
    queue.pop(x);
    assert(x + y == 3);
}
