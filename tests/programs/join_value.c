// expect: ok
// traces: 1
// What a thread returns, or gives to pthread_exit at any depth, is what join delivers.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static void *square(void *argument) {
    intptr_t number = (intptr_t)argument;
    return (void *)(number * number);
}

static void leave(int depth, void *value) {
    if (depth == 0)
        pthread_exit(value);
    leave(depth - 1, value);
    assert(0);
}

static void *deep(void *argument) {
    int *result = malloc(sizeof *result);
    *result = *(int *)argument + 1;
    leave(3, result);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    int number = 41;
    void *value;
    pthread_create(&a, NULL, square, (void *)12);
    pthread_create(&b, NULL, deep, &number);
    pthread_join(b, &value);
    assert(*(int *)value == 42);
    free(value);
    pthread_join(a, &value);
    assert((intptr_t)value == 144);
    return 0;
}
