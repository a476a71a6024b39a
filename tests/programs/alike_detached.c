// expect: ok
// traces: 2
// alike: 1
// Threads that nobody waits for. They can be detached after they were created: that is nothing that they know of.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *work(void *unused) {
    atomic_store(&x, 1);
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_detach(first);
    pthread_detach(second);
    return 0;
}
