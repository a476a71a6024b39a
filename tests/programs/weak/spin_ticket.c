// expect: ok
// weakened: -DWAIT=memory_order_relaxed -> race; sc: race
// weakened: -DSERVE=memory_order_relaxed -> race; sc: race
// unbroken: -DTAKE=memory_order_relaxed
// unbroken: -DOWN=memory_order_relaxed
// A ticket lock: threads are served in the order of the numbers that they take.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// To take a number needs to be atomic, and nothing else: the lock is not had yet.
#ifndef TAKE
#define TAKE memory_order_acq_rel
#endif
// The owner alone changes what is being served, and what it reads is what it has waited for.
#ifndef OWN
#define OWN memory_order_acquire
#endif
// Acquires what the one before has done.
#ifndef WAIT
#define WAIT memory_order_acquire
#endif
// Releases it.
#ifndef SERVE
#define SERVE memory_order_release
#endif

static atomic_uint next, serving;
static int counter;

static void lock(void) {
    unsigned mine = atomic_fetch_add_explicit(&next, 1, TAKE);
    while (atomic_load_explicit(&serving, WAIT) != mine)
        ;
}

static void unlock(void) {
    unsigned mine = atomic_load_explicit(&serving, OWN);
    atomic_store_explicit(&serving, mine + 1, SERVE);
}

static void *work(void *unused) {
    lock();
    counter++;
    unlock();
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 3);
    return 0;
}
