// expect: ok
// weakened: -DUNPARK=memory_order_relaxed -> livelock; sc: ok
// weakened: -DFAST=memory_order_relaxed -> livelock; sc: ok
// weakened: -DAWAIT=memory_order_relaxed -> livelock; sc: ok
// weakened: -DSPARED -> livelock; sc: ok; tso: livelock
// unbroken: -DSLEEP=memory_order_relaxed
// A token to park on: who finds it goes on, who does not find it waits for it. Two others bring one, and there is only
// one at a time; only one of them has something to tell.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// Releases what comes with the token. With SPARED, who finds that there is a token already leaves it at that: then the
// other one's token is taken, and what this one had to tell is not seen by who parks again, for good.
#ifndef UNPARK
#define UNPARK memory_order_release
#endif
// Acquires what came with it, if it was there at once, or
#ifndef FAST
#define FAST memory_order_acquire
#endif
// after waiting.
#ifndef AWAIT
#define AWAIT memory_order_acquire
#endif
#ifndef SLEEP
#define SLEEP memory_order_release
#endif

enum { EMPTY, PARKED, TOKEN };

static atomic_int state;
static atomic_int done;

static void unpark(void) {
#ifdef SPARED
    if (atomic_load_explicit(&state, memory_order_relaxed) == TOKEN)
        return;
#endif
    atomic_exchange_explicit(&state, TOKEN, UNPARK);
}

static void park(void) {
    int seen = TOKEN;
    if (atomic_compare_exchange_strong_explicit(&state, &seen, EMPTY, FAST, memory_order_relaxed))
        return;
    seen = EMPTY;
    atomic_compare_exchange_strong_explicit(&state, &seen, PARKED, SLEEP, memory_order_relaxed);
    while (atomic_load_explicit(&state, memory_order_relaxed) != TOKEN)
        ;
    atomic_exchange_explicit(&state, EMPTY, AWAIT);
}

static void *wake(void *unused) {
    unpark();
    return unused;
}

static void *finish(void *unused) {
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    unpark();
    return unused;
}

static void *wait(void *unused) {
    while (!atomic_load_explicit(&done, memory_order_relaxed))
        park();
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, wake, NULL);
    pthread_create(&threads[1], NULL, finish, NULL);
    pthread_create(&threads[2], NULL, wait, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
