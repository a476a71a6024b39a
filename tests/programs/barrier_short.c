// expect: bug deadlock
// The barrier waits for three, but only two come.
#include <pthread.h>
#include <stddef.h>

static pthread_barrier_t barrier;

static void *thread(void *unused) {
    pthread_barrier_wait(&barrier);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_barrier_init(&barrier, NULL, 3);
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
