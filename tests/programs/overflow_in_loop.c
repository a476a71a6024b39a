// expect: bug arithmetic
// line: 20
// A loop that waits, with a sum that overflows in a round that would do nothing else.
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int step, stop;

static void *run(void *argument) {
    (void)argument;
    step = 1;
    stop = 1;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    while (INT_MAX - 1 + 2 * step < 0 || !stop)
        ;
    pthread_join(thread, 0);
    return 0;
}
