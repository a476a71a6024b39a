/* How a Bluetooth driver stops, after Qadeer and Wu ("KISS: keep it simple and sequential").
 *
 * N threads do input and output, again and again, for as long as the driver is not stopping. One thread stops it: it
 * says so, waits until nobody is at work, and gives the driver's resources back. `pending` counts those at work, and
 * one more as long as the driver is not stopping; who brings it to zero tells the one that waits.
 *
 * The bug of the original: a thread sees that the driver is not stopping, and counts itself in later. In between, the
 * driver may stop. FIXED: it counts itself in first, and out again if the driver is stopping.
 *
 * Verdict: the assertion fails, that is, somebody is at work when the driver is stopped; with FIXED, correct. */
#include <assert.h>
#include <stdatomic.h>

#include "forever.h"

#ifndef N
#define N 1
#endif

static atomic_int pending = 1;
static atomic_bool stopping, idle, stopped;

static void leave(void) {
    if (atomic_fetch_sub(&pending, 1) == 1)
        idle = true;
}

static bool enter(void) {
#ifdef FIXED
    atomic_fetch_add(&pending, 1);
    if (stopping) {
        leave();
        return false;
    }
#else
    if (stopping)
        return false;
    atomic_fetch_add(&pending, 1);
#endif
    return true;
}

static void *work(void *unused) {
    forever {
        be_busy(); /* there is nothing to do */
        if (!enter())
            continue;
        assert(!stopped);
        for_a_while {
            assert(!stopped);
        }
        leave();
    }
    return unused;
}

static void *stop(void *unused) {
    stopping = true;
    leave();
    while (!idle) {
    }
    stopped = true;
    return unused;
}

int main(void) {
    start(stop, 0);
    for (int t = 1; t <= N; t++)
        start(work, t);
    pthread_exit(NULL);
}
