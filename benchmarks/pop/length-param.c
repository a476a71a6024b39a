/* Long executions, and few of them: two threads work N rounds on a variable of their own, then meet once. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#ifndef N
#define N 1024
#endif

static atomic_int own[2], shared;

static void *work(void *argument) {
    intptr_t id = (intptr_t)argument;
    for (int round = 0; round < N; round++) {
        atomic_store(&own[id], round);
        (void)atomic_load(&own[id]);
    }
    atomic_store(&shared, (int)id);
    (void)atomic_load(&shared);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int id = 0; id < 2; id++)
        pthread_create(&threads[id], NULL, work, (void *)(intptr_t)id);
    return 0;
}
