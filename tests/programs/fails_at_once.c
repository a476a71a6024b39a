// expect: bug assertion
// line: 17
// A thread that fails before it does anything that others could see, and is created by one that has: right after a read,
// not with the first steps of the program.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;

static void *setter(void *unused) {
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return unused;
}

static void *checker(void *number) {
    assert(number != &ready);
    return number;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, setter, NULL);
    int seen = atomic_load_explicit(&ready, memory_order_relaxed);
    pthread_create(&threads[1], NULL, checker, seen ? (void *)&ready : NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
