/* What the locks are tried with: N threads that take the lock once, store their number and read it back. Include this
 * after defining `acquire` and `release`; define NO_MAIN for threads that are started in another way. */
#ifndef LOCK_H
#define LOCK_H

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

static int shared;

static void *run(void *argument) {
    int id = (int)(intptr_t)argument;
    acquire(id);
    shared = id;
    assert(shared == id);
    release(id);
    return NULL;
}

#ifndef NO_MAIN
int main(void) {
    pthread_t threads[N];
    for (int t = 0; t < N; t++)
        pthread_create(&threads[t], NULL, run, (void *)(intptr_t)t);
    for (int t = 0; t < N; t++)
        pthread_join(threads[t], NULL);
    return 0;
}
#endif

#endif
