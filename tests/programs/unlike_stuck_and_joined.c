// expect: bug assertion
// line: 24
// Of two threads that are alike, the first one to move stops for good. Only if that is the second one by name does
// somebody get past waiting for the first, and then he does not wait for both.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

static atomic_int order;

static void *work(void *unused) {
    int moved = atomic_fetch_add(&order, 1);
    __VERIFIER_assume(moved != 0);
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    assert(!"nobody says that both have ended");
    pthread_join(second, NULL);
    return 0;
}
