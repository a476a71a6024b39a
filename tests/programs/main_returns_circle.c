// expect: bug deadlock
// Threads that wait for each other do so before main returns, if it is slow.
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

static void *take(void *turned) {
    pthread_mutex_lock(turned ? &right : &left);
    pthread_mutex_lock(turned ? &left : &right);
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, take, NULL);
    pthread_create(&threads[1], NULL, take, &left);
    return 0;
}
