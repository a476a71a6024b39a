// expect: bug assertion
// line: 17
// Either of two waiters may be the one that a signal wakes.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int waiting;

static void *waiter(void *argument) {
    pthread_mutex_lock(&lock);
    waiting++;
    pthread_cond_wait(&condition, &lock);
    assert((intptr_t)argument == 1);
    pthread_mutex_unlock(&lock);
    exit(0);
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, waiter, (void *)1);
    pthread_create(&b, NULL, waiter, (void *)2);
    pthread_mutex_lock(&lock);
    if (waiting < 2)
        exit(0);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&lock);
    pthread_join(a, NULL);
    return 0;
}
