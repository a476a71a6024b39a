// expect: ok
// traces: 2
// A flag under a mutex, looked at from time to time: a round that finds nothing gives back what it took.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool ready;
static int value;

static void *producer(void *unused) {
    value = 42;
    pthread_mutex_lock(&mutex);
    ready = true;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    for (;;) {
        pthread_mutex_lock(&mutex);
        bool now = ready;
        pthread_mutex_unlock(&mutex);
        if (now)
            break;
        usleep(100);
    }
    assert(value == 42);
    pthread_join(thread, NULL);
    return 0;
}
