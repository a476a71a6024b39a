// expect: ok
// weakened: -DLOCK=memory_order_relaxed -> assertion; sc: ok
// weakened: -DUNLOCK=memory_order_relaxed -> assertion; sc: ok
// weakened: -DLOCK=memory_order_release -> assertion; sc: ok
// unbroken: -DREREAD=memory_order_relaxed
// A sequence lock that keeps writers apart as well: the number becomes odd by a compare-exchange. The reader looks at
// the number again by an update that adds nothing, instead of a fence and a load.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// Acquires what the last writer wrote, so that the next one comes after it in the order of each of the data. It also
// acquires that earlier readers have read: no fence is needed between the odd number and the data.
#ifndef LOCK
#define LOCK memory_order_acquire
#endif
#ifndef UNLOCK
#define UNLOCK memory_order_release
#endif
// An update that releases: whoever makes the number odd after it comes after the reads. As a load, it could not. C11
// has need of it; in RC11, no read can read what comes of a later write of its own thread.
#ifndef REREAD
#define REREAD memory_order_release
#endif

static atomic_uint number;
static atomic_int left, right;

static void *writer(void *argument) {
    int value = argument ? 2 : 1;
    unsigned seen;
    do
        while ((seen = atomic_load_explicit(&number, memory_order_relaxed)) & 1)
            ;
    while (!atomic_compare_exchange_strong_explicit(&number, &seen, seen + 1, LOCK, memory_order_relaxed));
    atomic_store_explicit(&left, value, memory_order_relaxed);
    atomic_store_explicit(&right, value, memory_order_relaxed);
    atomic_store_explicit(&number, seen + 2, UNLOCK);
    return NULL;
}

static void *reader(void *unused) {
    unsigned before = atomic_load_explicit(&number, memory_order_acquire);
    int l = atomic_load_explicit(&left, memory_order_relaxed);
    int r = atomic_load_explicit(&right, memory_order_relaxed);
    if (before % 2 == 0 && atomic_fetch_add_explicit(&number, 0, REREAD) == before)
        assert(l == r);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, writer, threads);
    pthread_create(&threads[2], NULL, reader, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(left == right && number == 4);
    return 0;
}
