/* Two producers and two consumers share a buffer of SIZE items. Each looks whether there is something to do, and only
 * then takes the mutex.
 *
 * Verdict: an assertion fails, since another thread may have been faster. */
#include <assert.h>
#include <pthread.h>

#include "useful.h"

#ifndef SIZE
#define SIZE 2
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *produce(void *unused) {
    for (;;) {
        if (count < SIZE) {
            pthread_mutex_lock(&mutex);
            assert(count < SIZE);
            count++;
            pthread_mutex_unlock(&mutex);
            useful();
        }
    }
    return unused;
}

static void *consume(void *unused) {
    for (;;) {
        if (count > 0) {
            pthread_mutex_lock(&mutex);
            assert(count > 0);
            count--;
            pthread_mutex_unlock(&mutex);
            useful();
        }
    }
    return unused;
}

int main(void) {
    pthread_t producers[2], consumers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&producers[i], NULL, produce, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&consumers[i], NULL, consume, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(producers[i], NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(consumers[i], NULL);
    return 0;
}
