// expect: ok
// Two producers, and a consumer that waits for both.
#include <atomic_queue/atomic_queue.h>
#include <cassert>
#include <thread>
int main() {
    atomic_queue::AtomicQueue2<int, 2> queue;
    std::thread a([&] { queue.push(1); }), b([&] { queue.push(2); });
    int sum = queue.pop();
    sum += queue.pop();
    assert(sum == 3);
    a.join();
    b.join();
}
