// expect: ok
// races: 1
// A thread that still waits when the process ends has read the variable many times.
#include <pthread.h>
#include <stdlib.h>

static int x;

static void *wait(void *unused) {
    while (x != 1)
        ;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait, NULL);
    x = 2;
    exit(0);
}
