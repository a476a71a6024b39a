// expect: ok
// weakened: -DBEGIN=memory_order_relaxed -> assertion; sc: ok
// weakened: -DBETWEEN=memory_order_relaxed -> assertion; sc: ok
// weakened: -DOPEN=memory_order_relaxed -> assertion; sc: ok
// weakened: -DCLOSE=memory_order_relaxed -> assertion; sc: ok
// weakened: -DOPEN=memory_order_acquire -> assertion; sc: ok
// A sequence lock, as in "Can seqlocks get along with programming language memory models?" (Boehm, MSPC 2012): a reader
// has read what belongs together if the number was even, and is the same afterwards. The data have to be atomic.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// Reader. The data are not older than the number.
#ifndef BEGIN
#define BEGIN memory_order_acquire
#endif
// A fence between the data and the second look at the number: if any of the data is newer, so is the number. To let
// this look acquire instead would only keep what comes after it from coming before it.
#ifndef BETWEEN
#define BETWEEN memory_order_acquire
#endif
// Writer. A fence between the odd number and the data, for the same reason: that the odd number be released would only
// be about what comes before it.
#ifndef OPEN
#define OPEN memory_order_release
#endif
// Releases the data to who finds this number.
#ifndef CLOSE
#define CLOSE memory_order_release
#endif

static atomic_uint number;
static atomic_int left, right;

static void write(int value) {
    unsigned seen = atomic_load_explicit(&number, memory_order_relaxed);
    atomic_store_explicit(&number, seen + 1, memory_order_relaxed);
    atomic_thread_fence(OPEN);
    atomic_store_explicit(&left, value, memory_order_relaxed);
    atomic_store_explicit(&right, value, memory_order_relaxed);
    atomic_store_explicit(&number, seen + 2, CLOSE);
}

static void *writer(void *unused) {
    write(1);
    write(2);
    return unused;
}

static void *reader(void *unused) {
    int l, r;
    unsigned before, after;
    do {
        while ((before = atomic_load_explicit(&number, BEGIN)) & 1)
            ;
        l = atomic_load_explicit(&left, memory_order_relaxed);
        r = atomic_load_explicit(&right, memory_order_relaxed);
        atomic_thread_fence(BETWEEN);
        after = atomic_load_explicit(&number, memory_order_relaxed);
    } while (before != after);
    assert(l == r);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
