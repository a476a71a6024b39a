// expect: ok
// traces: 12
// A counter that is raised by compare-exchange, first from a guess, then from what was found instead.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint counter;

static void *raise(void *unused) {
    unsigned guess = 0;
    while (!atomic_compare_exchange_weak(&counter, &guess, guess + 1))
        ;
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, raise, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 3);
    return 0;
}
