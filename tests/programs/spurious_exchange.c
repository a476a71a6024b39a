// expect: bug assertion
// line: 19
// check: --spurious
// A weak compare-exchange that is taken for a strong one.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int owner;

static void *run(void *argument) {
    return argument;
}

int main(void) {
    pthread_t thread;
    int nobody = 0;
    pthread_create(&thread, 0, run, 0);
    assert(atomic_compare_exchange_weak(&owner, &nobody, 1));
    pthread_join(thread, 0);
    return 0;
}
