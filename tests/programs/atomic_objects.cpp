// expect: ok
// std::atomic, its operators and functions.
#include <atomic>
#include <cassert>
#include <pthread.h>

namespace {

std::atomic<int> counter{0};
std::atomic<bool> ready{false};
std::atomic_flag busy = ATOMIC_FLAG_INIT;
int data;

template <typename T> T add(std::atomic<T> &to, T amount) { return to.fetch_add(amount, std::memory_order_relaxed); }

void *thread(void *) {
    data = 7;
    ready.store(true, std::memory_order_release);
    ++counter;
    return nullptr;
}

} // namespace

int main() {
    pthread_t other;
    pthread_create(&other, nullptr, thread, nullptr);
    if (ready.load(std::memory_order_acquire))
        assert(data == 7);
    add(counter, 2);
    pthread_join(other, nullptr);
    assert(counter == 3);
    int expected = 4;
    assert(!counter.compare_exchange_strong(expected, 9) && expected == 3);
    assert(counter.compare_exchange_weak(expected, 9) && counter.exchange(1) == 9);
    counter |= 6;
    assert(counter-- == 7 && !busy.test_and_set() && busy.test_and_set());
    return 0;
}
