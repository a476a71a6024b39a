// expect: ok
// weakened: -DFAST=memory_order_relaxed -> race; sc: race
// weakened: -DAWAIT=memory_order_relaxed -DPEND=memory_order_relaxed -DCLAIM=memory_order_relaxed -> race; sc: race
// weakened: -DUNLOCK=memory_order_relaxed -> race; sc: race
// unbroken: -DPEND=memory_order_relaxed -DCLAIM=memory_order_relaxed
// The uncontended part of a queued spin lock, as in Linux: a bit for the owner, and one for the first who waits.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { HELD = 1, PENDING = 2 };

// The lock in one step: acquires what was released with it.
#ifndef FAST
#define FAST memory_order_acquire
#endif
// To be the first who waits gives no right to anything yet.
#ifndef PEND
#define PEND memory_order_acquire
#endif
// The owner has left, and this acquires what it did; were all three relaxed, nothing would.
#ifndef AWAIT
#define AWAIT memory_order_acquire
#endif
// From waiting to owning: nobody else could.
#ifndef CLAIM
#define CLAIM memory_order_acquire
#endif
#ifndef UNLOCK
#define UNLOCK memory_order_release
#endif

static atomic_int word;
static int counter;

static void lock(void) {
    int expected = 0;
    if (atomic_compare_exchange_strong_explicit(&word, &expected, HELD, FAST, memory_order_relaxed))
        return;
    while (atomic_fetch_or_explicit(&word, PENDING, PEND) & PENDING)
        ;
    while (atomic_load_explicit(&word, AWAIT) & HELD)
        ;
    atomic_fetch_add_explicit(&word, HELD - PENDING, CLAIM);
}

static void unlock(void) { atomic_fetch_sub_explicit(&word, HELD, UNLOCK); }

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
    assert(counter == 2 && word == 0);
    return 0;
}
