/* Lamport's bakery: mutual exclusion as in a shop where customers draw numbers. N customers come again and again.
 *
 * In the original, numbers grow for ever if there is always somebody in the shop. Here they end at TICKETS: who would
 * get a higher one leaves and comes back later.
 *
 * BROKEN: nobody waits for those who are just drawing a number.
 *
 * Verdict: correct, that is, one customer is served at a time; with BROKEN, the assertion fails. */
#include <assert.h>
#include <stdatomic.h>

#include "forever.h"

#ifndef N
#define N 2
#endif
#ifndef TICKETS
#define TICKETS N
#endif

static atomic_bool drawing[N];
static atomic_int numbers[N]; /* 0: not in the shop */
static int served;

/* The number drawn, 0 if there is none left. */
static int draw(int me) {
    int highest = 0;
    drawing[me] = true;
    for (int other = 0; other < N; other++) {
        int number = numbers[other];
        if (number > highest)
            highest = number;
    }
    int mine = highest < TICKETS ? highest + 1 : 0;
    if (mine)
        numbers[me] = mine;
    drawing[me] = false;
    return mine;
}

/* Whether another one goes first: who has the lower number, or the same and the lower name. */
static bool goes_first(int other, int me, int mine) {
    int number = numbers[other];
    return number != 0 && (number < mine || (number == mine && other < me));
}

static void *visit(void *argument) {
    int me = (int)(intptr_t)argument;
    forever {
        int mine = draw(me);
        if (!mine)
            continue;
        for (int other = 0; other < N; other++) {
            if (other == me)
                continue;
#ifndef BROKEN
            while (drawing[other]) {
            }
#endif
            while (goes_first(other, me, mine)) {
            }
        }
        served = me;
        assert(served == me);
        numbers[me] = 0;
    }
    return NULL;
}

int main(void) {
    for (int t = 0; t < N; t++)
        start(visit, t);
    pthread_exit(NULL);
}
