// expect: bug deadlock
// Two wait, one posts.
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t semaphore;

static void *thread(void *unused) {
    sem_wait(&semaphore);
    return unused;
}

int main(void) {
    pthread_t a, b;
    sem_init(&semaphore, 0, 0);
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    sem_post(&semaphore);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
