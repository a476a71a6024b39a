// expect: ok
// weakened: -DLOCK=memory_order_relaxed -> race; sc: race
// weakened: -DUNLOCK=memory_order_relaxed -> race; sc: race
// weakened: -DWAKE=memory_order_release -> race; sc: race
// weakened: -DWAKE=memory_order_acquire -> race; sc: race
// weakened: -DCONCEDE=memory_order_relaxed -> race; sc: race
// unbroken: -DDONE=memory_order_release
// A place for the one to be woken, which a task registers, while others take out what is there and wake it. Who wakes
// while somebody registers leaves it to that one. Whatever happens, the task is woken, or sees that it need not be.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// Acquires the place, from whoever took out what was there last.
#ifndef LOCK
#define LOCK memory_order_acquire
#endif
// Releases what was registered. If somebody came in between, this fails,
#ifndef UNLOCK
#define UNLOCK memory_order_release
#endif
// and acquires what that one had done before: the task looks for that itself.
#ifndef CONCEDE
#define CONCEDE memory_order_acquire
#endif
// Acquires what is registered, and releases what was done before to who is just registering.
#ifndef WAKE
#define WAKE memory_order_acq_rel
#endif
// Gives the place back.
#ifndef DONE
#define DONE memory_order_acq_rel
#endif

enum { QUIET = 0, REGISTERS = 1, WAKES = 2 };

static atomic_int state;
static int *place;
static int woken, work;
static bool conceded;

static void *task(void *unused) {
    int expected = QUIET;
    if (!atomic_compare_exchange_strong_explicit(&state, &expected, REGISTERS, LOCK, CONCEDE)) {
        assert(expected == WAKES && work == 42);
        conceded = true;
        return unused;
    }
    place = &woken;
    expected = REGISTERS;
    if (!atomic_compare_exchange_strong_explicit(&state, &expected, QUIET, UNLOCK, CONCEDE)) {
        place = NULL;
        assert(expected == (REGISTERS | WAKES) && work == 42);
        conceded = true;
        atomic_exchange_explicit(&state, QUIET, DONE);
    }
    return unused;
}

static void *waker(void *unused) {
    work = 42;
    if (atomic_fetch_or_explicit(&state, WAKES, WAKE) == QUIET) {
        int *found = place;
        place = NULL;
        atomic_fetch_and_explicit(&state, ~WAKES, DONE);
        if (found)
            *found = 1;
    }
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, task, NULL);
    pthread_create(&b, NULL, waker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(woken || conceded || place == &woken);
    return 0;
}
