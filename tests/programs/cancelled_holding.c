// expect: bug deadlock
// Nothing unlocks the mutex of a thread that is cancelled.
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t work;

static void *run(void *unused) {
    pthread_mutex_lock(&lock);
    sem_wait(&work);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
    sem_init(&work, 0, 1);
    pthread_create(&thread, NULL, run, NULL);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    pthread_mutex_lock(&lock);
    return 0;
}
