// expect: bug assertion
// unsynchronized_pop is for when no other thread is there.
#include <boost/lockfree/stack.hpp>
#include <cassert>
#include <thread>
int main() {
    boost::lockfree::stack<int> stack(2);
    stack.push(1);
    stack.push(2);
    int x = 0, y = 0;
    std::thread a([&] { stack.unsynchronized_pop(x); });
    stack.unsynchronized_pop(y);
    a.join();
    assert(x + y == 3);
}
