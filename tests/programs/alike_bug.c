// expect: bug assertion
// line: 14
// A bug that needs two threads in one order is found in the one order that is left.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int count;

static void *work(void *unused) {
    int seen = atomic_load(&count);
    atomic_store(&count, seen + 1);
    atomic_thread_fence(memory_order_seq_cst);
    assert(atomic_load(&count) != 1 || seen != 1);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int t = 0; t < 3; t++)
        pthread_create(&threads[t], NULL, work, NULL);
    for (int t = 0; t < 3; t++)
        pthread_join(threads[t], NULL);
    return 0;
}
