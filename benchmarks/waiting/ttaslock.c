/* A test-and-test-and-set lock: wait until it looks free, then try to take it. N threads take it once. */
#include <stdatomic.h>

#include "spin.h"

#ifndef N
#define N 3
#endif

static atomic_int taken;

static void acquire(int id) {
    (void)id;
    do
        spin_until(atomic_load(&taken) == 0);
    while (atomic_exchange(&taken, 1) != 0);
}

static void release(int id) {
    (void)id;
    atomic_store(&taken, 0);
}

#include "lock.h"
