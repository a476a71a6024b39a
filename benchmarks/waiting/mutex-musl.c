/* The mutex of the musl C library: a word, which is 0 when free, 1 when taken and 2 when taken with somebody asleep, and a
 * number of threads that wait. N threads take it once. */
#include <stdatomic.h>

#include "futex.h"

#ifndef N
#define N 2
#endif

static atomic_int waiting;

static void acquire(int id) {
    (void)id;
    if (change(0, 1))
        return;
    while (!change(0, 1)) {
        atomic_fetch_add(&waiting, 1);
        change(1, 2);
        futex_wait(2);
        atomic_fetch_sub(&waiting, 1);
    }
}

static void release(int id) {
    (void)id;
    int before = atomic_exchange(&mutex, 0);
    if (atomic_load(&waiting) > 0 || before != 1)
        futex_wake();
}

#define NO_MAIN
#include "lock.h"

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
