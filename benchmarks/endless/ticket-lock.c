/* A ticket lock that is used for ever: the two counters are bytes and start again at 0.
 *
 * BROKEN: a ticket is drawn in two steps, so that two threads may get the same one.
 *
 * Verdict: correct for N < 256, that is, one thread has the lock at a time; with BROKEN, the assertion fails. */
#include <assert.h>
#include <stdatomic.h>

#include "forever.h"

#ifndef N
#define N 2
#endif

static atomic_uchar next, serving;
static int owner;

static void acquire(void) {
#ifdef BROKEN
    unsigned char ticket = next;
    next = (unsigned char)(ticket + 1);
#else
    unsigned char ticket = atomic_fetch_add(&next, 1);
#endif
    while (serving != ticket) {
    }
}

static void release(void) { atomic_fetch_add(&serving, 1); }

static void *run(void *argument) {
    int me = (int)(intptr_t)argument;
    forever {
        acquire();
        owner = me;
        assert(owner == me);
        release();
    }
    return NULL;
}

int main(void) {
    for (int t = 0; t < N; t++)
        start(run, t);
    pthread_exit(NULL);
}
