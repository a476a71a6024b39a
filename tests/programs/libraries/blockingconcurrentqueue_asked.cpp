// expect: bug deadlock
// That the queue is not empty is old news when the value is taken.
#include <concurrentqueue/blockingconcurrentqueue.h>
#include <cassert>
#include <thread>
struct traits : moodycamel::ConcurrentQueueDefaultTraits {
    static const int MAX_SEMA_SPINS = 0;
};
int main() {
    moodycamel::BlockingConcurrentQueue<int, traits> queue(2);
    std::thread a([&] {
        int value;
        queue.wait_dequeue(value);
    });
    queue.enqueue(1);
    if (queue.size_approx() > 0) {  // the other may take it before wait_dequeue does
        int value;
        queue.wait_dequeue(value);
        queue.enqueue(value);
    }
    a.join();
}
