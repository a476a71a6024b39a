// expect: bug deadlock
// message: main.1 waits for mutex mutex, held by main, which has ended
// But if only the first thread ends, the others go on waiting.
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *wait(void *unused) {
    pthread_mutex_lock(&mutex);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, wait, NULL);
    pthread_exit(NULL);
}
