// expect: ok
// Thread-specific data: values by thread, destructors at the end of a thread, which may set values again.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_key_t plain, owned;
static int destroyed[2], rounds;

static void count_rounds(void *value) {
    rounds++;
    if (rounds < 3)
        pthread_setspecific(plain, value);
}

static void destroy(void *value) {
    destroyed[*(int *)value]++;
    free(value);
}

static void *thread(void *argument) {
    assert(pthread_getspecific(owned) == NULL);
    int *value = malloc(sizeof *value);
    *value = argument != NULL;
    pthread_setspecific(owned, value);
    assert(pthread_getspecific(owned) == value);
    if (argument)
        pthread_setspecific(plain, &rounds);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_key_create(&plain, count_rounds);
    pthread_key_create(&owned, destroy);
    pthread_setspecific(owned, &a);
    pthread_create(&a, NULL, thread, NULL);
    pthread_join(a, NULL);
    pthread_create(&b, NULL, thread, &plain);
    assert(pthread_getspecific(owned) == &a);
    pthread_join(b, NULL);
    assert(destroyed[0] == 1 && destroyed[1] == 1);
    assert(rounds == 3);
    assert(pthread_getspecific(owned) == &a);
    assert(pthread_key_delete(owned) == 0);
    return 0;
}
