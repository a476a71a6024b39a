// expect: bug assertion
// line: 21
// A load and a store of an atomic are two steps.
#include <atomic>
#include <cassert>
#include <pthread.h>

static std::atomic<long> counter;

static void *increment(void *) {
    counter = counter + 1;
    return nullptr;
}

int main() {
    pthread_t a, b;
    pthread_create(&a, nullptr, increment, nullptr);
    pthread_create(&b, nullptr, increment, nullptr);
    pthread_join(a, nullptr);
    pthread_join(b, nullptr);
    assert(counter == 2);
    return 0;
}
