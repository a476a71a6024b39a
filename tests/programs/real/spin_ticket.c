// expect: ok
// A ticket lock.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define ROUNDS 1

static atomic_uint next_ticket, serving;

static void spin_lock(void) {
    unsigned mine = atomic_fetch_add(&next_ticket, 1);
    while (atomic_load_explicit(&serving, memory_order_acquire) != mine)
        sched_yield();
}

static void spin_unlock(void) {
    unsigned now = atomic_load_explicit(&serving, memory_order_relaxed);
    atomic_store_explicit(&serving, now + 1, memory_order_release);
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
