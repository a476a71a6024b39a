/* Peterson's mutual exclusion for two threads, which stay away for as long as they like and come again.
 *
 * BROKEN: a thread gives way to the other before it says that it wants to enter.
 *
 * Verdict: correct, that is, one thread is in at a time; with BROKEN, the assertion fails. */
#include <assert.h>
#include <stdatomic.h>

#include "forever.h"

static atomic_bool wants[2];
static atomic_int turn;
static int inside;

static void *run(void *argument) {
    int me = (int)(intptr_t)argument, other = 1 - me;
    forever {
        be_busy(); /* be somewhere else */
#ifdef BROKEN
        turn = other;
        wants[me] = true;
#else
        wants[me] = true;
        turn = other;
#endif
        while (wants[other] && turn == other) {
        }
        inside = me;
        assert(inside == me);
        wants[me] = false;
    }
    return NULL;
}

int main(void) {
    start(run, 0);
    start(run, 1);
    pthread_exit(NULL);
}
