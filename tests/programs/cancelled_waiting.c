// expect: ok
// A thread that waits is cancelled, and cleans up: the mutex of its condition variable is locked then.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int cleaned;

static void unlock(void *mutex) {
    cleaned = cleaned * 10 + 1;
    pthread_mutex_unlock(mutex);
}

static void note(void *digit) { cleaned = cleaned * 10 + *(int *)digit; }

static void *run(void *unused) {
    int digit = 2;
    pthread_cleanup_push(note, &digit);
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, &lock);
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(0);
    return unused;
}

int main(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, run, NULL);
    assert(pthread_cancel(thread) == 0);
    pthread_join(thread, &result);
    assert(result == PTHREAD_CANCELED && cleaned == 12);
    assert(pthread_mutex_trylock(&lock) == 0);
    return 0;
}
