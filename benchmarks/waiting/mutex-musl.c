/* The mutex of the musl C library: a word, which is 0 when free, 1 when taken and 2 when taken with somebody asleep, and a
 * number of threads that wait. N threads take it once.
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

static atomic_int mutex, waiting, wakeups;
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
    while (!change(0, 1)) {
        atomic_fetch_add(&waiting, 1);
        change(1, 2);
        futex_wait(2);
        atomic_fetch_sub(&waiting, 1);
    }
}

static void release(void) {
    int before = atomic_exchange(&mutex, 0);
    if (atomic_load(&waiting) > 0 || before != 1)
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
    pthread_t first, second, third;
    pthread_create(&first, NULL, run, (void *)1);
    pthread_create(&second, NULL, run, (void *)2);
    if (N > 2)
        pthread_create(&third, NULL, run, (void *)3);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    if (N > 2)
        pthread_join(third, NULL);
    return 0;
}
