// expect: bug assertion
// The queue may still be empty.
#include <xenium/vyukov_bounded_queue.hpp>
#include <cassert>
#include <thread>
int main() {
    xenium::vyukov_bounded_queue<int> queue(2);
    std::thread a([&] { (void)queue.try_push(1); });
    int x;
    assert(queue.try_pop(x));  // it may still be empty
    a.join();
}
