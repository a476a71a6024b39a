// expect: ok
// traces: 1
// pthread_exit runs what is to clean up, too, also out of other functions, and before destructors.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int order;
static pthread_key_t key;

static void add(void *digit) { order = order * 10 + (int)(long)digit; }

static void leave(void *value) {
    pthread_cleanup_push(add, (void *)2);
    pthread_exit(value);
    pthread_cleanup_pop(0);
}

static void *run(void *value) {
    pthread_setspecific(key, (void *)4);
    pthread_cleanup_push(add, (void *)3);
    pthread_cleanup_push(add, (void *)1);
    pthread_cleanup_pop(1);
    leave(value);
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void) {
    pthread_t thread;
    void *result;
    pthread_key_create(&key, add);
    pthread_create(&thread, NULL, run, &order);
    pthread_join(thread, &result);
    assert(result == &order && order == 1234);
    return 0;
}
