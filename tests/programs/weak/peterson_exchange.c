// expect: ok
// weakened: -DYIELD=memory_order_acquire -> race; sc: ok
// weakened: -DYIELD=memory_order_release -> race; sc: ok
// weakened: -DLOOK=memory_order_relaxed -> race; sc: race
// weakened: -DLEAVE=memory_order_relaxed -> race; sc: race
// unbroken: -DTURN=memory_order_relaxed
// unbroken: -DWISH=memory_order_relaxed
// Peterson's algorithm without anything that is seq_cst: the turn is exchanged, so that the second thread to yield
// reads from the first one, and knows of its wish.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// Goes along with the exchange.
#ifndef WISH
#define WISH memory_order_release
#endif
// Releases the wish to the second who yields, and acquires that of the first: half of it is nothing.
#ifndef YIELD
#define YIELD memory_order_acq_rel
#endif
// Acquires what the other did inside, which LEAVE releases.
#ifndef LOOK
#define LOOK memory_order_acquire
#endif
#ifndef LEAVE
#define LEAVE memory_order_release
#endif
#ifndef TURN
#define TURN memory_order_acquire
#endif

static atomic_bool wishes[2];
static atomic_int turn;
static int counter;

static void *work(void *argument) {
    int self = argument != NULL, other = 1 - self;
    atomic_store_explicit(&wishes[self], true, WISH);
    atomic_exchange_explicit(&turn, other, YIELD);
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
