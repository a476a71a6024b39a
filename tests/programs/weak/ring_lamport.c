// expect: ok
// weakened: -DPUT=memory_order_relaxed -> race; sc: race
// weakened: -DSEE=memory_order_relaxed -> race; sc: race
// weakened: -DTAKE=memory_order_relaxed -> race; sc: race
// weakened: -DROOM=memory_order_relaxed -> race; sc: race
// Lamport's ring for one producer and one consumer: each writes an index of its own and reads that of the other.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// Releases what is in the slot,
#ifndef PUT
#define PUT memory_order_release
#endif
// and acquires it.
#ifndef SEE
#define SEE memory_order_acquire
#endif
// Gives the slot back: releases that it was read,
#ifndef TAKE
#define TAKE memory_order_release
#endif
// which is acquired before it is written again. To forget this half shows only once the ring goes round.
#ifndef ROOM
#define ROOM memory_order_acquire
#endif

enum { SIZE = 2, COUNT = 3 };

static int slots[SIZE];
static atomic_uint head, tail;

static void *produce(void *unused) {
    for (int i = 0; i < COUNT; i++) {
        unsigned mine = atomic_load_explicit(&tail, memory_order_relaxed);
        while (mine - atomic_load_explicit(&head, ROOM) == SIZE)
            ;
        slots[mine % SIZE] = i;
        atomic_store_explicit(&tail, mine + 1, PUT);
    }
    return unused;
}

static void *consume(void *unused) {
    for (int i = 0; i < COUNT; i++) {
        unsigned mine = atomic_load_explicit(&head, memory_order_relaxed);
        while (atomic_load_explicit(&tail, SEE) == mine)
            ;
        assert(slots[mine % SIZE] == i);
        atomic_store_explicit(&head, mine + 1, TAKE);
    }
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, produce, NULL);
    pthread_create(&b, NULL, consume, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
