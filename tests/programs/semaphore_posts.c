// expect: ok
// traces: 1
// Posts do not disturb each other.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t semaphore;

static void *thread(void *unused) {
    sem_post(&semaphore);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    int value;
    sem_init(&semaphore, 0, 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, thread, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    sem_getvalue(&semaphore, &value);
    assert(value == 3);
    return 0;
}
