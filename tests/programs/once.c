// expect: ok
// The routine runs once, and everybody waits for its end.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int calls, ready;

static void initialise(void) {
    calls++;
    ready = 1;
}

static void *thread(void *unused) {
    pthread_once(&once, initialise);
    assert(ready == 1);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_once(&once, initialise);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(calls == 1);
    return 0;
}
