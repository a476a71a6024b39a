// expect: ok
// traces: 2
// Who sees the flag sees the data.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int data;
static atomic_int ready;

static void *sender(void *unused) {
    data = 42;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return unused;
}

static void *receiver(void *unused) {
    if (atomic_load_explicit(&ready, memory_order_acquire))
        assert(data == 42);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, sender, NULL);
    pthread_create(&b, NULL, receiver, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
