// expect: ok
// traces: 6
// Exactly one thread is told that it is the serial one: the last to arrive.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static pthread_barrier_t barrier;

static void *thread(void *unused) {
    (void)unused;
    return (void *)(intptr_t)(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
}

int main(void) {
    pthread_t threads[3];
    intptr_t serial = 0;
    pthread_barrier_init(&barrier, NULL, 3);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, thread, NULL);
    for (int i = 0; i < 3; i++) {
        void *value;
        pthread_join(threads[i], &value);
        serial += (intptr_t)value;
    }
    assert(serial == 1);
    return 0;
}
