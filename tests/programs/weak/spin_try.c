// expect: ok
// weakened: -DTRY=memory_order_relaxed -> race; sc: race
// weakened: -DUNLOCK=memory_order_relaxed -> race; sc: race
// A lock that is only tried: who does not get it goes without.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// Acquires what the last owner has done. (To find the lock taken says nothing about what its owner has done.)
#ifndef TRY
#define TRY memory_order_acquire
#endif
#ifndef UNLOCK
#define UNLOCK memory_order_release
#endif

static atomic_bool held;
static int counter;

static bool try_lock(void) {
    return !atomic_load_explicit(&held, memory_order_relaxed) && !atomic_exchange_explicit(&held, true, TRY);
}

static void *work(void *argument) {
    int *got = argument;
    *got = try_lock();
    if (*got) {
        counter++;
        atomic_store_explicit(&held, false, UNLOCK);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int got[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &got[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(counter == got[0] + got[1] && counter > 0);
    return 0;
}
