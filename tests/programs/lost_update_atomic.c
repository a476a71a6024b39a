// expect: ok
// The same with atomic increments, whose old values are not used: they commute.
// traces: 1
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int counter;

static void *increment(void *unused) {
    atomic_fetch_add(&counter, 1);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, increment, NULL);
    pthread_create(&b, NULL, increment, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
