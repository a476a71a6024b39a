// expect: bug sync
// line: 25
// message: threads wait
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int waiting;

static void *waiter(void *unused) {
    pthread_mutex_lock(&lock);
    waiting = 1;
    pthread_cond_wait(&condition, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, waiter, NULL);
    pthread_mutex_lock(&lock);
    if (!waiting)
        exit(0);
    pthread_cond_destroy(&condition);
    pthread_mutex_unlock(&lock);
    return 0;
}
