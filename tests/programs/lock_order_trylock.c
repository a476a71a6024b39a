// expect: ok
// Different orders are harmless for one who gives up and lets go.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int balance;

static void *forwards(void *unused) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    balance++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return unused;
}

int main(void) {
    pthread_t thread;
    int moved = 0;
    pthread_create(&thread, NULL, forwards, NULL);
    pthread_mutex_lock(&b);
    int result = pthread_mutex_trylock(&a);
    if (result == 0) {
        balance++;
        moved = 1;
        pthread_mutex_unlock(&a);
    } else {
        assert(result == EBUSY);
    }
    pthread_mutex_unlock(&b);
    pthread_join(thread, NULL);
    assert(balance == 1 + moved);
    return 0;
}
