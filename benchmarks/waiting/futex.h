/* A mutex word and a futex, which is a counter of wake-ups: sleeping is waiting for it to change. */
#ifndef FUTEX_H
#define FUTEX_H

#include <stdatomic.h>
#include <stdbool.h>

#include "spin.h"

static atomic_int mutex, wakeups;

static bool change(int from, int to) {
    return atomic_compare_exchange_strong(&mutex, &from, to);
}

static void futex_wait(int value) {
    int seen = atomic_load(&wakeups);
    if (atomic_load(&mutex) == value)
        spin_until(atomic_load(&wakeups) != seen);
}

static void futex_wake(void) {
    atomic_fetch_add(&wakeups, 1);
}

#endif
