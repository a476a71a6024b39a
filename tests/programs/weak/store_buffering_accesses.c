// expect: ok
// weakened: -DSAY=memory_order_release -> assertion; sc: ok; tso: assertion
// weakened: -DLOOK=memory_order_acquire -> assertion; sc: ok
// weakened: -DSAY=memory_order_release -DLOOK=memory_order_acquire -> assertion; sc: ok; tso: assertion
// unbroken: -DEXCHANGED -DSAY=memory_order_acq_rel -DLOOK=memory_order_acquire
// Store buffering by accesses that are seq_cst, both the stores and the loads. Release and acquire do not order a store
// and the load after it, and what is seq_cst is in one order only with what is seq_cst as well.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef SAY
#define SAY memory_order_seq_cst
#endif
#ifndef LOOK
#define LOOK memory_order_seq_cst
#endif

static atomic_int here[2];
static atomic_int turnstile;
static int saw[2];

static void *come(void *argument) {
    int self = argument != NULL;
#ifdef EXCHANGED  // Both go through one variable: the second update reads from the first, and thus sees what it knew.
    atomic_store_explicit(&here[self], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&turnstile, 1, SAY);
#else
    atomic_store_explicit(&here[self], 1, SAY);
#endif
    saw[self] = atomic_load_explicit(&here[1 - self], LOOK);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, come, NULL);
    pthread_create(&b, NULL, come, &turnstile);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(saw[0] || saw[1]);
    return 0;
}
