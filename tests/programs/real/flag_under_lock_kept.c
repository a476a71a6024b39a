// expect: bug deadlock
// The lock is not given back on the way out.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool stop;
static int results[2];

static bool should_stop(void) {
    pthread_mutex_lock(&lock);
    if (stop)
        return true;
    pthread_mutex_unlock(&lock);
    return false;
}

static void request_stop(void) {
    pthread_mutex_lock(&lock);
    stop = true;
    pthread_mutex_unlock(&lock);
}

static void *monitor(void *unused) {
    while (!should_stop())
        usleep(100);
    results[0] = 1;
    return unused;
}

static void *control(void *unused) {
    results[1] = 1;
    request_stop();
    request_stop();
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, monitor, NULL);
    pthread_create(&threads[1], NULL, control, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(results[0] && results[1]);
    return 0;
}
