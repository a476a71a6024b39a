/* A program that never ends, verified; and a deadlock in it.
 *
 *     mazurka check examples/philosophers.c
 *     mazurka check examples/philosophers.c -DDEADLOCK
 *
 * Philosophers sit around a table, with one fork between any two neighbours. Each thinks, takes the two forks next to
 * him, eats, puts them back, and thinks again. That goes on for ever, so there is no end to the interleavings; but
 * there are only so many states: who holds which forks, and where everybody is. The stateful engine visits each of them
 * once. That no bug is in any of them holds for dinners of any length.
 *
 * With DEADLOCK, all take the left fork first. Each may get that one and wait for the right one, which his neighbour
 * holds. To repair it, one of them takes the right fork first. For more philosophers, -DN=6. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#ifndef N
#define N 4
#endif

static struct fork {
    pthread_mutex_t mutex;
    int user;
} forks[N];

static void eat(int me, struct fork *left, struct fork *right) {
    left->user = me;
    right->user = me;
    assert(left->user == me && right->user == me);
}

static void *dine(void *argument) {
    int me = (int)(intptr_t)argument;
    struct fork *left = &forks[me], *right = &forks[(me + 1) % N];
    struct fork *first = left, *second = right;
#ifndef DEADLOCK
    if (me == 0) {
        first = right;
        second = left;
    }
#endif
    for (;;) {
        pthread_mutex_lock(&first->mutex);
        pthread_mutex_lock(&second->mutex);
        eat(me, left, right);
        pthread_mutex_unlock(&second->mutex);
        pthread_mutex_unlock(&first->mutex);
    }
}

int main(void) {
    pthread_t philosophers[N];
    for (int i = 0; i < N; i++) {
        pthread_mutex_init(&forks[i].mutex, NULL);
        forks[i].user = i;
    }
    for (int i = 0; i < N; i++)
        pthread_create(&philosophers[i], NULL, dine, (void *)(intptr_t)i);
    for (int i = 0; i < N; i++)
        pthread_join(philosophers[i], NULL);
    return 0;
}
