// expect: ok
// weakened: -DLEFT=memory_order_acq_rel -> assertion; sc: ok; tso: assertion
// weakened: -DRIGHT=memory_order_acq_rel -> assertion; sc: ok; tso: assertion
// weakened: -DLEFT=memory_order_relaxed -> assertion; sc: ok; tso: assertion
// Store buffering: each thread says that it is there, and looks for the other. One of them at least has to see it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// Only a fence that is seq_cst keeps a load behind a store to another place, and both threads need one.
#ifndef LEFT
#define LEFT memory_order_seq_cst
#endif
#ifndef RIGHT
#define RIGHT memory_order_seq_cst
#endif

static atomic_int left_here, right_here;
static int left_saw, right_saw;

static void *left(void *unused) {
    atomic_store_explicit(&left_here, 1, memory_order_relaxed);
    atomic_thread_fence(LEFT);
    left_saw = atomic_load_explicit(&right_here, memory_order_relaxed);
    return unused;
}

static void *right(void *unused) {
    atomic_store_explicit(&right_here, 1, memory_order_relaxed);
    atomic_thread_fence(RIGHT);
    right_saw = atomic_load_explicit(&left_here, memory_order_relaxed);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, left, NULL);
    pthread_create(&b, NULL, right, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(left_saw || right_saw);
    return 0;
}
