// expect: ok
// traces: 3
// Under sequential consistency at least one thread sees the other's store.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int r1, r2;

static void *left(void *unused) {
    atomic_store(&x, 1);
    r1 = atomic_load(&y);
    return unused;
}

static void *right(void *unused) {
    atomic_store(&y, 1);
    r2 = atomic_load(&x);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, left, NULL);
    pthread_create(&b, NULL, right, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(r1 == 1 || r2 == 1);
    return 0;
}
