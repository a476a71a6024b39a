/* A test-and-test-and-set lock: wait until it looks free, then try to take it. N threads take it once. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "spin.h"

#ifndef N
#define N 3
#endif

static atomic_int taken;
static int shared;

static void acquire(void) {
    do
        spin_until(atomic_load(&taken) == 0);
    while (atomic_exchange(&taken, 1) != 0);
}

static void release(void) {
    atomic_store(&taken, 0);
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
