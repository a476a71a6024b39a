// expect: ok
// What was written before the barrier is seen after it.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

static pthread_barrier_t barrier;
static int written[2];

static void *thread(void *argument) {
    intptr_t self = (intptr_t)argument;
    written[self] = 1;
    int result = pthread_barrier_wait(&barrier);
    assert(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    assert(written[1 - self] == 1);
    return NULL;
}

int main(void) {
    pthread_t other;
    assert(pthread_barrier_init(&barrier, NULL, 0) == EINVAL);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&other, NULL, thread, (void *)1);
    thread((void *)0);
    pthread_join(other, NULL);
    pthread_barrier_destroy(&barrier);
    return 0;
}
