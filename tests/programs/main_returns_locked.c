// expect: ok
// Nobody unlocks what main holds when it returns, and nobody joins it: the process is over.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t first;

static void *wait(void *unused) {
    pthread_mutex_lock(&mutex);
    return unused;
}

static void *join(void *unused) {
    pthread_join(first, NULL);
    assert(0);
    return unused;
}

int main(void) {
    pthread_t thread;
    first = pthread_self();
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, wait, NULL);
    pthread_detach(thread);
    pthread_create(&thread, NULL, join, NULL);
    return 0;
}
