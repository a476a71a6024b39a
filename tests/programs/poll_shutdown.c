// expect: ok
// A worker that polls for work or for the end.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int tasks, done;
static bool stop;

static void *worker(void *unused) {
    for (;;) {
        pthread_mutex_lock(&mutex);
        if (tasks > 0) {
            tasks--;
            done++;
        } else if (stop) {
            pthread_mutex_unlock(&mutex);
            return unused;
        }
        pthread_mutex_unlock(&mutex);
        sched_yield();
    }
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&mutex);
    tasks = 1;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    stop = true;
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    assert(done == 1);
    return 0;
}
