// expect: ok
// weakened: -DWISH=memory_order_release -> race; sc: ok
// weakened: -DVICTIM=memory_order_release -> race; sc: ok; tso: race
// weakened: -DOTHERS=memory_order_acquire -> race; sc: ok
// weakened: -DLEAVE=memory_order_relaxed -> race; sc: race
// unbroken: -DLEAVE=memory_order_release
// Peterson's algorithm for three threads: at each of two levels, the last one to come stays behind as long as there are
// others at this level or above.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// As with two threads, these have to be in the one order.
#ifndef WISH
#define WISH memory_order_seq_cst
#endif
#ifndef VICTIM
#define VICTIM memory_order_seq_cst
#endif
#ifndef OTHERS
#define OTHERS memory_order_seq_cst
#endif
#ifndef LEAVE
#define LEAVE memory_order_seq_cst
#endif

enum { THREADS = 3 };

static atomic_int levels[THREADS];
static atomic_int victims[THREADS];
static int counter;

static void *work(void *argument) {
    int self = *(int *)argument, first = (self + 1) % THREADS, second = (self + 2) % THREADS;
    for (int level = 1; level < THREADS; level++) {
        atomic_store_explicit(&levels[self], level, WISH);
        atomic_store_explicit(&victims[level], self, VICTIM);
        while ((atomic_load_explicit(&levels[first], OTHERS) >= level ||
                atomic_load_explicit(&levels[second], OTHERS) >= level) &&
               atomic_load_explicit(&victims[level], OTHERS) == self)
            ;
    }
    counter++;
    atomic_store_explicit(&levels[self], 0, LEAVE);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int names[THREADS];
    for (int i = 0; i < THREADS; i++) {
        names[i] = i;
        pthread_create(&threads[i], NULL, work, &names[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(counter == THREADS);
    return 0;
}
