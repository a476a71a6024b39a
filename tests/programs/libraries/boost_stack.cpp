// expect: ok
// Each thread pushes one and pops one, whichever it is.
#include <boost/lockfree/stack.hpp>
#include <cassert>
#include <thread>
int main() {
    boost::lockfree::stack<int> stack(2);
    int x = 0, y = 0;
    std::thread a([&] {
        stack.push(1);
        stack.pop(x);
    });
    stack.push(2);
    stack.pop(y);
    a.join();
    assert(x + y == 3);
}
