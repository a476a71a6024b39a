// expect: bug livelock
// A loop that does nothing but wait, again and again.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a = 1, b = 1;

static void *wait(void *unused) {
    for (;;)
        while (a && b)
            ;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait, NULL);
    a = 0;
    pthread_exit(NULL);
}
