// expect: bug deadlock
// Waiting releases a recursive mutex once only: held twice, it stays locked.
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void *thread(void *unused) {
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    pthread_create(&other, NULL, thread, NULL);
    while (!ready)
        pthread_cond_wait(&condition, &lock);
    return 0;
}
