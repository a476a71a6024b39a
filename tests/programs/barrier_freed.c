// expect: ok
// The serial thread may destroy the barrier and free its memory: the other one does not touch it any more.
#include <pthread.h>
#include <stdlib.h>

static void *thread(void *argument) {
    pthread_barrier_t *barrier = argument;
    if (pthread_barrier_wait(barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
        pthread_barrier_destroy(barrier);
        free(barrier);
    }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_barrier_t *barrier = malloc(sizeof *barrier);
    pthread_barrier_init(barrier, NULL, 2);
    pthread_create(&a, NULL, thread, barrier);
    pthread_create(&b, NULL, thread, barrier);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
