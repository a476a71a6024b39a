// expect: bug deadlock
// The process does not end before what was registered with atexit has run, which waits here for a thread that waits.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;

static void join(void) { pthread_join(thread, NULL); }

static void *wait(void *unused) {
    pthread_mutex_lock(&mutex);
    return unused;
}

int main(void) {
    atexit(join);
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, wait, NULL);
    return 0;
}
