// expect: ok
// weakened: -DSLEEPER=memory_order_acq_rel -> livelock; sc: ok
// weakened: -DNOTIFIER=memory_order_acq_rel -> livelock; sc: ok; tso: livelock
// weakened: -DNOTIFIER=memory_order_relaxed -> livelock; sc: ok; tso: livelock
// weakened: -DPUBLISH=memory_order_relaxed -> race; sc: race
// weakened: -DLOOK=memory_order_relaxed -> race; sc: race
// An event count: who finds nothing to do says that he is going to sleep, looks once more, and sleeps until the number
// has changed. Who brings something changes the number only if somebody sleeps.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// Between "I am going to sleep" and the look at the work, and between the work and the look at the sleepers: store
// buffering. Otherwise, the work is not seen by the one, nor the sleeper by the other, who sleeps for ever.
#ifndef SLEEPER
#define SLEEPER memory_order_seq_cst
#endif
#ifndef NOTIFIER
#define NOTIFIER memory_order_seq_cst
#endif
// The work itself is a message like any other.
#ifndef PUBLISH
#define PUBLISH memory_order_release
#endif
#ifndef LOOK
#define LOOK memory_order_acquire
#endif

static int work;
static atomic_int ready, sleepers, number;

static void *worker(void *unused) {
    if (!atomic_load_explicit(&ready, LOOK)) {
        atomic_fetch_add_explicit(&sleepers, 1, memory_order_relaxed);
        int seen = atomic_load_explicit(&number, memory_order_acquire);
        atomic_thread_fence(SLEEPER);
        if (!atomic_load_explicit(&ready, LOOK))
            while (atomic_load_explicit(&number, memory_order_acquire) == seen)
                ;
        atomic_fetch_sub_explicit(&sleepers, 1, memory_order_relaxed);
    }
    assert(atomic_load_explicit(&ready, LOOK) && work == 42);
    return unused;
}

static void *boss(void *unused) {
    work = 42;
    atomic_store_explicit(&ready, 1, PUBLISH);
    atomic_thread_fence(NOTIFIER);
    if (atomic_load_explicit(&sleepers, memory_order_relaxed) > 0)
        atomic_fetch_add_explicit(&number, 1, memory_order_release);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, worker, NULL);
    pthread_create(&threads[1], NULL, boss, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
