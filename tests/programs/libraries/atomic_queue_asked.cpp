// expect: bug livelock
// That the queue is not empty is old news when the value is taken.
#include <atomic_queue/atomic_queue.h>
#include <cassert>
#include <thread>
int main() {
    atomic_queue::AtomicQueue2<int, 2> queue;
    std::thread a([&] {
        if (!queue.was_empty()) (void)queue.pop();
    });
    queue.push(1);
    if (!queue.was_empty()) (void)queue.pop();  // the other may have been faster
    a.join();
}
