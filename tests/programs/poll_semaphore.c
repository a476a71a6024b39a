// expect: ok
// A consumer that asks a semaphore again and again; errno says why it went away with nothing, which nobody reads.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

static sem_t items;
static int queue[2];

static void *producer(void *unused) {
    for (int i = 0; i < 2; i++) {
        queue[i] = i + 1;
        sem_post(&items);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    sem_init(&items, 0, 0);
    pthread_create(&thread, NULL, producer, NULL);
    for (int i = 0; i < 2; i++) {
        while (sem_trywait(&items) != 0)
            sched_yield();
        assert(queue[i] == i + 1);
    }
    pthread_join(thread, NULL);
    return 0;
}
