// expect: ok
// weakened: -DSEND=memory_order_relaxed -> race; sc: race
// weakened: -DRECEIVE=memory_order_relaxed -> race; sc: race
// weakened: -DSTORED -DBUMP=memory_order_relaxed -> race; sc: race
// weakened: -DSTORED -DBUMP=memory_order_release -> race; sc: race
// unbroken: -DBUMP=memory_order_relaxed
// A release sequence: updates of other threads between a release and an acquire do no harm, whatever their order.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef SEND
#define SEND memory_order_release
#endif
#ifndef RECEIVE
#define RECEIVE memory_order_acquire
#endif
// The update may be relaxed: it is part of the sequence because it reads what it replaces. A store in its place
// (STORED), though made by who has seen the first one, ends the sequence; and released by a thread that has not
// acquired, it releases nothing.
#ifndef BUMP
#define BUMP memory_order_acq_rel
#endif

static int data;
static atomic_int stage;

static void *send(void *unused) {
    data = 42;
    atomic_store_explicit(&stage, 1, SEND);
    return unused;
}

static void *bump(void *unused) {
#ifdef STORED
    if (atomic_load_explicit(&stage, memory_order_relaxed) == 1)
        atomic_store_explicit(&stage, 2, BUMP);
#else
    int one = 1;
    atomic_compare_exchange_strong_explicit(&stage, &one, 2, BUMP, memory_order_relaxed);
#endif
    return unused;
}

static void *receive(void *unused) {
    if (atomic_load_explicit(&stage, RECEIVE) == 2)
        assert(data == 42);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, send, NULL);
    pthread_create(&threads[1], NULL, bump, NULL);
    pthread_create(&threads[2], NULL, receive, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
