// expect: bug assertion
// line: 11
// They also run when main returns, while other threads go on.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static volatile int done;

static void check(void) {
    assert(done);
}

static void *work(void *argument) {
    (void)argument;
    done = 1;
    return NULL;
}

int main(void) {
    atexit(check);
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    return 0;
}
