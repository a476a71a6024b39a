// expect: ok
// Functions registered with atexit run when a thread calls exit, the latest first, and may register more.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int calls;

static void last(void) { assert(calls++ == 2); }

static void second(void) {
    assert(calls++ == 1);
    assert(atexit(last) == 0);
}

static void first(void) { assert(calls++ == 0); }

static void *work(void *argument) {
    (void)argument;
    exit(0);
}

int main(void) {
    atexit(second);
    atexit(first);
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    assert(0);
}
