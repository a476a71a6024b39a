/* Two threads try a lock of the Linux kind, N times each: whoever gets it is alone with the shared variable. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef N
#define N 6
#endif

static atomic_int lock;
static int shared;

static bool try_lock(void) {
    int unlocked = 0;
    return atomic_compare_exchange_strong(&lock, &unlocked, 1);
}

static void unlock(void) { atomic_store(&lock, 0); }

static void *work(void *argument) {
    int id = (int)(intptr_t)argument;
    for (int round = 0; round < N; round++) {
        if (try_lock()) {
            shared = id;
            assert(shared == id);
            unlock();
        }
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int t = 0; t < 2; t++)
        pthread_create(&threads[t], NULL, work, (void *)(intptr_t)(t + 1));
    for (int t = 0; t < 2; t++)
        pthread_join(threads[t], NULL);
    return 0;
}
