// expect: ok
// weakened: -DFAST=memory_order_relaxed -> race; sc: race
// weakened: -DPUBLISH=memory_order_relaxed -> race; sc: race
// weakened: -DLOCK=memory_order_relaxed -> race; sc: ok
// weakened: -DUNLOCK=memory_order_relaxed -> race; sc: ok
// unbroken: -DSLOW=memory_order_relaxed
// Double-checked locking: whoever finds the thing made does not take the lock.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

// The look without the lock acquires what was made: the pointer may be here before what it points to.
#ifndef FAST
#define FAST memory_order_acquire
#endif
// Releases it to those who come without the lock; the lock is released too late for them.
#ifndef PUBLISH
#define PUBLISH memory_order_release
#endif
// The look under the lock, which orders it.
#ifndef SLOW
#define SLOW memory_order_acquire
#endif
#ifndef LOCK
#define LOCK memory_order_acquire
#endif
#ifndef UNLOCK
#define UNLOCK memory_order_release
#endif

struct thing {
    int value;
};

static struct thing room;
static _Atomic(struct thing *) thing;
static atomic_bool held;
static int made;

static struct thing *get(void) {
    struct thing *found = atomic_load_explicit(&thing, FAST);
    if (found)
        return found;
    while (atomic_exchange_explicit(&held, true, LOCK))
        ;
    found = atomic_load_explicit(&thing, SLOW);
    if (!found) {
        made++;
        found = &room;
        found->value = 42;
        atomic_store_explicit(&thing, found, PUBLISH);
    }
    atomic_store_explicit(&held, false, UNLOCK);
    return found;
}

static void *work(void *unused) {
    assert(get()->value == 42);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(made == 1);
    return 0;
}
