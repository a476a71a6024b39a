// expect: ok
// A waiter that times out takes no signal away from the other one.
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int tokens;

static void *patient(void *unused) {
    pthread_mutex_lock(&lock);
    while (tokens == 0)
        pthread_cond_wait(&condition, &lock);
    tokens--;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *impatient(void *unused) {
    struct timespec deadline = {10, 0};
    pthread_mutex_lock(&lock);
    if (tokens == 0 && pthread_cond_timedwait(&condition, &lock, &deadline) == 0)
        pthread_cond_signal(&condition);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, patient, NULL);
    pthread_create(&b, NULL, impatient, NULL);
    pthread_mutex_lock(&lock);
    tokens++;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&lock);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
