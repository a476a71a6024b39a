// expect: bug assertion
// line: 15
// One of two threads that do the same is waited for first, and something is done before the other is: who is still there
// then is the second one.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int order, first_has_ended;

static void *work(void *unused) {
    int moved = atomic_fetch_add(&order, 1);
    int late = atomic_load(&first_has_ended);
    /* The second one to be created moves first, and looks when the first one has ended. */
    assert(!(late && moved == 0));
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    atomic_store(&first_has_ended, 1);
    pthread_join(second, NULL);
    return 0;
}
