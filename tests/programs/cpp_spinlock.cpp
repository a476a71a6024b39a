// expect: ok
// traces: 2
// A spin lock on std::atomic: what a failing compare-exchange leaves in `expected` is of no consequence.
#include <atomic>
#include <cassert>
#include <pthread.h>

static std::atomic<bool> held{false};
static int counter;

static void lock() {
    bool expected = false;
    while (!held.compare_exchange_weak(expected, true, std::memory_order_acquire))
        expected = false;
}

static void *work(void *unused) {
    lock();
    counter++;
    held.store(false, std::memory_order_release);
    return unused;
}

int main() {
    pthread_t first, second;
    pthread_create(&first, nullptr, work, nullptr);
    pthread_create(&second, nullptr, work, nullptr);
    pthread_join(first, nullptr);
    pthread_join(second, nullptr);
    assert(counter == 2);
}
