// expect: ok
// An assume that fails ends its thread for good; that is no deadlock.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

static atomic_int x;

static void *thread(void *unused) {
    atomic_store(&x, 1);
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    __VERIFIER_assume(atomic_load(&x) == 1);
    assert(atomic_load(&x) == 1);
    pthread_join(other, NULL);
    return 0;
}
