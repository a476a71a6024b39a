// expect: bug sync
// line: 13
// message: destroyed semaphore
// Woken is not joined: the poster may still be on its way to post again.
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t semaphore;

static void *thread(void *unused) {
    sem_post(&semaphore);
    sem_post(&semaphore);
    return unused;
}

int main(void) {
    pthread_t other;
    sem_init(&semaphore, 0, 0);
    pthread_create(&other, NULL, thread, NULL);
    sem_wait(&semaphore);
    sem_destroy(&semaphore);
    return 0;
}
