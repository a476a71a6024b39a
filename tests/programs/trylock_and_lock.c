// expect: ok
// traces: 15
// A trylock that fails touches less than one that succeeds: orders are not lost over that.
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *polite(void *unused) {
    if (pthread_mutex_trylock(&lock) == 0)
        pthread_mutex_unlock(&lock);
    return unused;
}

static void *patient(void *unused) {
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, polite, NULL);
    pthread_create(&thread, NULL, polite, NULL);
    pthread_create(&thread, NULL, patient, NULL);
    return 0;
}
