/* THREADS threads in a ring pass on what they have, for ever: each takes over the value of its neighbour. Nobody writes
 * before all have read, nobody reads before all have written: there is a barrier for each.
 *
 * Verdict: safe. The value that comes round is the expected one. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

#include "useful.h"

#ifndef THREADS
#define THREADS 2
#endif

static pthread_barrier_t all_read, all_written;
static int cells[THREADS];

static void *run(void *argument) {
    const int me = (int)(intptr_t)argument, neighbour = (me + 1) % THREADS;
    int expected = me;
    for (;;) {
        int value = cells[neighbour];
        expected = (expected + 1) % THREADS;
        assert(value == expected);
        pthread_barrier_wait(&all_read);
        cells[me] = value;
        pthread_barrier_wait(&all_written);
        useful();
    }
    return argument;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&all_read, NULL, THREADS);
    pthread_barrier_init(&all_written, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        cells[i] = i;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
