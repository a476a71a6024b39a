// expect: bug assertion
// line: 25
// Threads that do the same are told apart by where their local variables are.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

static _Atomic uintptr_t places[2];
static atomic_int order;

static void *work(void *unused) {
    int local = 0;
    atomic_store(&places[atomic_fetch_add(&order, 1)], (uintptr_t)&local);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int t = 0; t < 2; t++)
        pthread_create(&threads[t], NULL, work, NULL);
    for (int t = 0; t < 2; t++)
        pthread_join(threads[t], NULL);
    assert(atomic_load(&places[0]) < atomic_load(&places[1]));
    return 0;
}
