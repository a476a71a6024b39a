// expect: bug assertion
// check: --compat=dartagnan
#include <dat3m.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int counter;

static void *run(void *unused) {
    int seen = atomic_load(&counter);
    atomic_store(&counter, seen + 1);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    __VERIFIER_loop_bound(3);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    __VERIFIER_assert(counter == 2);
    return 0;
}
