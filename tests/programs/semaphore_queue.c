// expect: ok
// A buffer for one item, between a producer and a consumer.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t empty, full;
static int slot;

static void *producer(void *unused) {
    for (int i = 1; i <= 2; i++) {
        sem_wait(&empty);
        slot = i;
        sem_post(&full);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    sem_init(&empty, 0, 1);
    sem_init(&full, 0, 0);
    pthread_create(&thread, NULL, producer, NULL);
    for (int i = 1; i <= 2; i++) {
        sem_wait(&full);
        assert(slot == i);
        sem_post(&empty);
    }
    pthread_join(thread, NULL);
    int value;
    sem_getvalue(&empty, &value);
    assert(value == 1);
    sem_destroy(&empty);
    sem_destroy(&full);
    return 0;
}
