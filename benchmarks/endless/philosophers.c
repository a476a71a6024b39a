/* N philosophers sit around a table, a fork between any two neighbours. Each thinks for as long as he likes, takes the
 * forks to his left and right, eats, puts them back, and starts again, for ever.
 *
 * If all take the left fork first (DEADLOCK), each may hold one and wait for the other. So the last one takes his
 * right fork first.
 *
 * Verdict: correct, that is, whoever eats has both of his forks for himself, and there is no deadlock; with DEADLOCK, a
 * deadlock. */
#include <assert.h>

#include "forever.h"

#ifndef N
#define N 3
#endif

static pthread_mutex_t forks[N];
static int user[N]; /* of each fork */

static void *dine(void *argument) {
    int me = (int)(intptr_t)argument;
    int first = me, second = (me + 1) % N;
#ifndef DEADLOCK
    if (me == N - 1) {
        first = 0;
        second = me;
    }
#endif
    forever {
        for_a_while {
            /* think */
        }
        pthread_mutex_lock(&forks[first]);
        pthread_mutex_lock(&forks[second]);
        user[first] = me;
        user[second] = me;
        assert(user[first] == me && user[second] == me);
        pthread_mutex_unlock(&forks[second]);
        pthread_mutex_unlock(&forks[first]);
    }
    return NULL;
}

int main(void) {
    for (int t = 0; t < N; t++)
        start(dine, t);
    pthread_exit(NULL);
}
