// expect: ok
// Threads create threads, as a tree.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static void *sum(void *argument) {
    intptr_t depth = (intptr_t)argument;
    if (depth == 0)
        return (void *)1;
    pthread_t left, right;
    void *a, *b;
    pthread_create(&left, NULL, sum, (void *)(depth - 1));
    pthread_create(&right, NULL, sum, (void *)(depth - 1));
    pthread_join(left, &a);
    pthread_join(right, &b);
    return (void *)((intptr_t)a + (intptr_t)b);
}

int main(void) {
    assert((intptr_t)sum((void *)2) == 4);
    return 0;
}
