// expect: ok
// weakened: -DAFTER_WISH=memory_order_release -> race; sc: ok
// weakened: -DAFTER_TURN=memory_order_acq_rel -> race; sc: ok; tso: race
// weakened: -DLOOK=memory_order_relaxed -> race; sc: race
// weakened: -DLEAVE=memory_order_relaxed -> race; sc: race
// unbroken: -DTURN=memory_order_relaxed
// Peterson's algorithm by fences.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// Keeps the wish before the turn: a thread could otherwise yield before anybody can see that it wants to get in, and
// the other one, which sees no wish, takes that for leave, while this one sees that its own turn was given back.
#ifndef AFTER_WISH
#define AFTER_WISH memory_order_seq_cst
#endif
// Keeps both before the look at the other: store buffering.
#ifndef AFTER_TURN
#define AFTER_TURN memory_order_seq_cst
#endif
// Acquires what the other did inside,
#ifndef LOOK
#define LOOK memory_order_acquire
#endif
// when that has left.
#ifndef LEAVE
#define LEAVE memory_order_release
#endif
// Whose turn it is says who yields, and the fences order it.
#ifndef TURN
#define TURN memory_order_acquire
#endif

static atomic_bool wishes[2];
static atomic_int turn;
static int counter;

static void *work(void *argument) {
    int self = argument != NULL, other = 1 - self;
    atomic_store_explicit(&wishes[self], true, memory_order_relaxed);
    atomic_thread_fence(AFTER_WISH);
    atomic_store_explicit(&turn, other, memory_order_relaxed);
    atomic_thread_fence(AFTER_TURN);
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
