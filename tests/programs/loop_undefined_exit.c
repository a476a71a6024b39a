// expect: bug memory
// message: never written
// The only way out of the loop depends on what was never written.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int x = 0, y = 1;

static void *wait(void *unused) {
    int undefined;
    while (x || y || undefined)
        ;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait, NULL);
    x = 1;
    y = 0;
    exit(0);
}
