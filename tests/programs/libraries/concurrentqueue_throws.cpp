// expect: ok
// A copy that throws leaves the queue as it was, also while another thread adds to it.
#include <concurrentqueue/concurrentqueue.h>
#include <cassert>
#include <stdexcept>
#include <thread>
struct element {
    int value;
    explicit element(int value = 0) : value(value) {}
    element(const element& from) : value(from.value) {
        if (value == 2) throw std::runtime_error("no copy");
    }
    element& operator=(const element&) = default;
};
int main() {
    moodycamel::ConcurrentQueue<element> queue(2);
    std::thread a([&] { queue.enqueue(element(1)); });
    bool thrown = false;
    try {
        queue.enqueue(element(2));
    } catch (const std::runtime_error&) {
        thrown = true;
    }
    a.join();
    element found;
    assert(thrown && queue.try_dequeue(found) && found.value == 1 && !queue.try_dequeue(found));
}
