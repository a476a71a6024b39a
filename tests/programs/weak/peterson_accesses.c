// expect: ok
// weakened: -DWISH=memory_order_release -> race; sc: ok
// weakened: -DYIELD=memory_order_release -> race; sc: ok; tso: race
// weakened: -DLOOK=memory_order_acquire -> race; sc: ok
// weakened: -DLEAVE=memory_order_relaxed -> race; sc: race
// unbroken: -DTURN=memory_order_relaxed
// unbroken: -DLEAVE=memory_order_release
// Peterson's algorithm by accesses that are seq_cst: the wish, the turn that is given away, and the look at the other.
// Each of them has to be in the one order, or the two threads do not agree on who was last to yield.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef WISH
#define WISH memory_order_seq_cst
#endif
#ifndef YIELD
#define YIELD memory_order_seq_cst
#endif
#ifndef LOOK
#define LOOK memory_order_seq_cst
#endif
// There are only two writes of the turn, and each thread knows its own: coherence is enough.
#ifndef TURN
#define TURN memory_order_seq_cst
#endif
// Has to release, so that the other comes after, and nothing more.
#ifndef LEAVE
#define LEAVE memory_order_seq_cst
#endif

static atomic_bool wishes[2];
static atomic_int turn;
static int counter;

static void *work(void *argument) {
    int self = argument != NULL, other = 1 - self;
    atomic_store_explicit(&wishes[self], true, WISH);
    atomic_store_explicit(&turn, other, YIELD);
    while (atomic_load_explicit(&wishes[other], LOOK) && atomic_load_explicit(&turn, TURN) == other)
        ;
    counter++;
    atomic_store_explicit(&wishes[self], false, LEAVE);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, &counter);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
