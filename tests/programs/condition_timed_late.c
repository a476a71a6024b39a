// expect: bug assertion
// line: 19
// A wait can time out and find its condition true all the same: the time ran out before the signal, the mutex was
// available only after it.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void *waiter(void *unused) {
    struct timespec deadline = {10, 0};
    pthread_mutex_lock(&lock);
    if (!ready) {
        int result = pthread_cond_timedwait(&condition, &lock, &deadline);
        assert(!(result == ETIMEDOUT && ready));
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, waiter, NULL);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
