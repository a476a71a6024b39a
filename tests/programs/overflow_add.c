// expect: bug arithmetic
// line: 14
// message: 2147483647 + 1 does not fit 32 bits
// Only if the other thread comes first.
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int limit = 5;

static void *raise_limit(void *argument) {
    int next;
    (void)argument;
    next = limit + 1;
    return (void *)(long)next;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, raise_limit, 0);
    limit = INT_MAX;
    pthread_join(thread, 0);
    return 0;
}
