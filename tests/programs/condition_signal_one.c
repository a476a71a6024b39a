// expect: bug deadlock
// One signal for two waiters leaves one of them waiting.
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int open;

static void *waiter(void *unused) {
    pthread_mutex_lock(&lock);
    while (!open)
        pthread_cond_wait(&condition, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, waiter, NULL);
    pthread_create(&b, NULL, waiter, NULL);
    pthread_mutex_lock(&lock);
    open = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&lock);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
