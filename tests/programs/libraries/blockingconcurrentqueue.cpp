// expect: ok
// A consumer that waits, at once: MAX_SEMA_SPINS is a parameter of the library, 10,000 unless given.
#include <concurrentqueue/blockingconcurrentqueue.h>
#include <cassert>
#include <thread>
struct traits : moodycamel::ConcurrentQueueDefaultTraits {
    static const int MAX_SEMA_SPINS = 0;
};
int main() {
    moodycamel::BlockingConcurrentQueue<int, traits> queue(2);
    std::thread a([&] { queue.enqueue(1); });
    int value;
    queue.wait_dequeue(value);
    assert(value == 1);
    a.join();
}
