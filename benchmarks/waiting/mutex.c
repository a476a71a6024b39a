/* A mutex on a futex: 0 is free, 1 is taken, 2 is taken with threads that may sleep. N threads take it once. */
#include <stdatomic.h>

#include "futex.h"

#ifndef N
#define N 2
#endif

static void acquire(int id) {
    (void)id;
    if (change(0, 1))
        return;
    do {
        change(1, 2);
        futex_wait(2);
    } while (!change(0, 2));
}

static void release(int id) {
    (void)id;
    if (change(1, 0))
        return;
    atomic_store(&mutex, 0);
    futex_wake();
}

#include "lock.h"
