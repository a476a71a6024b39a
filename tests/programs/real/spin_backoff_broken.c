// expect: bug assertion
// The lock is looked at and taken in two steps.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define ROUNDS 1

static atomic_bool held;

static void spin_lock(void) {
    unsigned backoff = 1;
    while (atomic_load_explicit(&held, memory_order_acquire)) {
        for (unsigned i = 0; i < backoff; i++)
            sched_yield();
        if (backoff < 4)
            backoff *= 2;
    }
    atomic_store(&held, true);
}

static void spin_unlock(void) {
    atomic_store_explicit(&held, false, memory_order_release);
}

static _Atomic int inside;
static int counter;

static void *work(void *unused) {
    for (int i = 0; i < ROUNDS; i++) {
        spin_lock();
        assert(atomic_fetch_add(&inside, 1) == 0);
        counter++;
        atomic_fetch_sub(&inside, 1);
        spin_unlock();
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, work, NULL);
    pthread_create(&threads[1], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 2 * ROUNDS);
    return 0;
}
