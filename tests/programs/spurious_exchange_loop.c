// expect: ok
// check: --spurious
// Loops that try again, in the same function and around a call.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_int counter, locked;
static int inside;

static bool try_lock(void) {
    int unlocked = 0;
    return atomic_compare_exchange_weak_explicit(&locked, &unlocked, 1, memory_order_acquire, memory_order_relaxed);
}

static void *count(void *argument) {
    int seen = atomic_load(&counter);
    while (!atomic_compare_exchange_weak(&counter, &seen, seen + 1))
        ;
    while (!try_lock())
        ;
    inside++;
    atomic_store_explicit(&locked, 0, memory_order_release);
    return argument;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, count, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(counter == 2 && inside == 2);
    return 0;
}
