// expect: ok
// weakened: -DWAIT=memory_order_relaxed -> race; sc: race
// weakened: -DPUBLISH=memory_order_relaxed -> race; sc: race
// weakened: -DSEE=memory_order_relaxed -> race; sc: race
// unbroken: -DRESERVE=memory_order_relaxed
// A ring of several producers, who reserve places one by one, fill them in any order, and publish them in that of the
// places: each waits for the one before it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// To reserve a place says nothing about what will be in it.
#ifndef RESERVE
#define RESERVE memory_order_acq_rel
#endif
// Looks like a mere wait for one's turn, but has to acquire: the consumer reads the number that the last one has
// written, and this one has to answer for all places before.
#ifndef WAIT
#define WAIT memory_order_acquire
#endif
#ifndef PUBLISH
#define PUBLISH memory_order_release
#endif
#ifndef SEE
#define SEE memory_order_acquire
#endif

static int places[2];
static atomic_int reserved, published;

static void *produce(void *unused) {
    int mine = atomic_fetch_add_explicit(&reserved, 1, RESERVE);
    places[mine] = 42;
    while (atomic_load_explicit(&published, WAIT) != mine)
        ;
    atomic_store_explicit(&published, mine + 1, PUBLISH);
    return unused;
}

static void *consume(void *unused) {
    int there = atomic_load_explicit(&published, SEE);
    for (int i = 0; i < there; i++)
        assert(places[i] == 42);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, produce, NULL);
    pthread_create(&threads[1], NULL, produce, NULL);
    pthread_create(&threads[2], NULL, consume, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
