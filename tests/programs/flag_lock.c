// expect: ok
// A lock from atomic_flag.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

static atomic_flag taken = ATOMIC_FLAG_INIT;
static int counter;

static void *thread(void *unused) {
    __VERIFIER_assume(!atomic_flag_test_and_set(&taken));
    counter++;
    atomic_flag_clear_explicit(&taken, memory_order_release);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
