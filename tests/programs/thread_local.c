// expect: ok
// traces: 1
// Each thread has its own copy, initialised as written.
#include <assert.h>
#include <pthread.h>
#include <threads.h>

static __thread int first = 5;
static _Thread_local struct {
    int a, b;
} second = {1, 2};
thread_local int *third = NULL;

static int next(void) {
    static thread_local int calls;
    return ++calls;
}

static void *thread(void *argument) {
    assert(first == 5 && second.a == 1 && second.b == 2 && third == NULL);
    first += (int)(long)argument;
    second.b = first;
    third = argument;
    assert(next() == 1 && next() == 2);
    assert(second.b == 5 + (int)(long)argument);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    first = 100;
    assert(next() == 1);
    pthread_create(&a, NULL, thread, (void *)1);
    pthread_create(&b, NULL, thread, (void *)2);
    assert(next() == 2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(first == 100 && second.b == 2 && third == NULL && next() == 3);
    return 0;
}
