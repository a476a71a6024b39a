/* A mutex on a futex: 0 is free, 1 is taken, 2 is taken with threads that may sleep. N threads take it once.
 *
 * The futex itself is a counter of wake-ups: sleeping is waiting for it to change. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spin.h"

#ifndef N
#define N 2
#endif

static atomic_int mutex, wakeups;
static int shared;

static bool change(int from, int to) {
    return atomic_compare_exchange_strong(&mutex, &from, to);
}

static void futex_wait(int value) {
    int seen = atomic_load(&wakeups);
    if (atomic_load(&mutex) == value)
        spin_until(atomic_load(&wakeups) != seen);
}

static void futex_wake(void) {
    atomic_fetch_add(&wakeups, 1);
}

static void acquire(void) {
    if (change(0, 1))
        return;
    do {
        change(1, 2);
        futex_wait(2);
    } while (!change(0, 2));
}

static void release(void) {
    if (change(1, 0))
        return;
    atomic_store(&mutex, 0);
    futex_wake();
}

static void *run(void *argument) {
    int id = (int)(intptr_t)argument;
    acquire();
    shared = id;
    assert(shared == id);
    release();
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int t = 0; t < N; t++)
        pthread_create(&threads[t], NULL, run, (void *)(intptr_t)t);
    for (int t = 0; t < N; t++)
        pthread_join(threads[t], NULL);
    return 0;
}
