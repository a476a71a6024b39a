// expect: ok
// Two producers: nothing is lost.
#include <xenium/vyukov_bounded_queue.hpp>
#include <cassert>
#include <thread>
int main() {
    xenium::vyukov_bounded_queue<int> queue(2);
    std::thread a([&] { assert(queue.try_push(1)); });
    assert(queue.try_push(2));
    a.join();
    int x, y;
    assert(queue.try_pop(x) && queue.try_pop(y) && x + y == 3);
}
