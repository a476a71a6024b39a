// expect: ok
// The remedy: everybody takes the lower fork first.
#include <pthread.h>
#include <stdint.h>

enum { COUNT = 3 };
static pthread_mutex_t forks[COUNT];

static void *philosopher(void *seat) {
    intptr_t left = (intptr_t)seat, right = (left + 1) % COUNT;
    intptr_t first = left < right ? left : right, second = left < right ? right : left;
    pthread_mutex_lock(&forks[first]);
    pthread_mutex_lock(&forks[second]);
    pthread_mutex_unlock(&forks[second]);
    pthread_mutex_unlock(&forks[first]);
    return NULL;
}

int main(void) {
    pthread_t threads[COUNT];
    for (int i = 0; i < COUNT; i++)
        pthread_mutex_init(&forks[i], NULL);
    for (intptr_t i = 0; i < COUNT; i++)
        pthread_create(&threads[i], NULL, philosopher, (void *)i);
    for (int i = 0; i < COUNT; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < COUNT; i++)
        pthread_mutex_destroy(&forks[i]);
    return 0;
}
