/* N threads that work off the queue of a driver, after the example with which the SLAM project began, as an abstraction
 * leaves it: all conditions but one are choices.
 *
 * Take the lock; if there is a request (a choice), release the lock, work on it, and look again. When there is none,
 * the lock is still held; `same` remembers that.
 *
 * BROKEN: an abstraction that has forgotten `same`.
 *
 * Verdict: correct, that is, the lock is taken and released in turns, and nobody else looks into the queue meanwhile;
 * with BROKEN, it is released when it is not held, and taken by who holds it, which is a deadlock. */
#include <assert.h>

#include "forever.h"

#ifndef N
#define N 2
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int looks; /* who looks into the queue */

static void *work(void *argument) {
    int me = (int)(intptr_t)argument;
    forever {
        bool same;
        do {
            pthread_mutex_lock(&lock);
            looks = me;
            same = true;
            for_a_while {
                /* look at the next entry of the queue */
            }
            assert(looks == me);
            if (maybe()) {
                pthread_mutex_unlock(&lock);
                for_a_while {
                    /* work on the request */
                }
                same = false;
            }
#ifdef BROKEN
            same = maybe();
#endif
        } while (!same);
        pthread_mutex_unlock(&lock);
        for_a_while {
            /* sleep */
        }
    }
    return NULL;
}

int main(void) {
    for (int t = 0; t < N; t++)
        start(work, t);
    pthread_exit(NULL);
}
