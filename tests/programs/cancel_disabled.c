// expect: ok
// Cancellation waits until it is enabled, and for a point where it may happen.
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static int steps;

static void *run(void *unused) {
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    assert(old == PTHREAD_CANCEL_ENABLE);
    sleep(1);
    steps = 1;
    pthread_setcancelstate(old, NULL);
    steps = 2;
    pthread_testcancel();
    steps = 3;
    return unused;
}

int main(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, run, NULL);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    assert(steps == (result == PTHREAD_CANCELED ? 2 : 3));
    return 0;
}
