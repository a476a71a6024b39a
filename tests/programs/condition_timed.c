// expect: bug assertion
// line: 20
// A timed wait may time out, even though the signal is on its way.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void *waiter(void *unused) {
    struct timespec deadline = {10, 0};
    int result = 0;
    pthread_mutex_lock(&lock);
    while (!ready && result == 0)
        result = pthread_cond_timedwait(&condition, &lock, &deadline);
    assert(result == 0 || result == ETIMEDOUT);
    assert(ready);
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
