// expect: ok
// A reader that sees the same even number before and after has read a consistent pair.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

static atomic_uint sequence;
static atomic_int a, b;

static void *writer(void *unused) {
    atomic_fetch_add(&sequence, 1);
    atomic_store(&a, 1);
    atomic_store(&b, 1);
    atomic_fetch_add(&sequence, 1);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
    unsigned before = atomic_load(&sequence);
    __VERIFIER_assume(before % 2 == 0);
    int x = a, y = b;
    __VERIFIER_assume(atomic_load(&sequence) == before);
    assert(x == y);
    pthread_join(thread, NULL);
    return 0;
}
