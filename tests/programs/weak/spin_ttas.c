// expect: ok
// weakened: -DLOCK=memory_order_relaxed -> race; sc: race
// weakened: -DUNLOCK=memory_order_relaxed -> race; sc: race
// weakened: -DLOCK=memory_order_release -> race; sc: race
// unbroken: -DLOOK=memory_order_relaxed
// Test and test-and-set: who finds the lock taken looks until it is not, before it tries again.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// Acquires what the last owner did. That it is an update, and a successful one, does not make it acquire.
#ifndef LOCK
#define LOCK memory_order_acquire
#endif
// Releases it to the next one.
#ifndef UNLOCK
#define UNLOCK memory_order_release
#endif
// Only tells when it is worth a try: nothing is done because of it but the exchange.
#ifndef LOOK
#define LOOK memory_order_acquire
#endif

static atomic_bool held;
static int counter;

static void lock(void) {
    while (atomic_exchange_explicit(&held, true, LOCK))
        while (atomic_load_explicit(&held, LOOK))
            ;
}

static void unlock(void) { atomic_store_explicit(&held, false, UNLOCK); }

static void *work(void *unused) {
    lock();
    counter++;
    unlock();
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 2);
    return 0;
}
