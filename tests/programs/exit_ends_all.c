// expect: ok
// exit ends all threads, wherever they are, even in what would be a deadlock.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *unused) {
    exit(0);
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
    assert(!"exit does not return");
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    return 0;
}
