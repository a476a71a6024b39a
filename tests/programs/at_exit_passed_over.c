// expect: ok
// _Exit, quick_exit and the end of a thread run nothing that was registered with atexit.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static void never(void) { assert(0); }

static void *work(void *argument) {
    if (argument)
        _Exit(0);
    quick_exit(0);
}

int main(void) {
    atexit(never);
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_create(&thread, NULL, work, &thread);
    pthread_exit(NULL);
}
