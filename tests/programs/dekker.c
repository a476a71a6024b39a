// expect: ok
// The entry of Dekker's algorithm: not both threads get in.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int wants[2];
static atomic_int inside;

static void *thread(void *argument) {
    int self = argument != NULL;
    wants[self] = 1;
    if (!wants[1 - self]) {
        assert(atomic_fetch_add(&inside, 1) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, &inside);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
