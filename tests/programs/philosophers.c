// expect: bug deadlock
// Three philosophers, each takes the left fork first.
#include <pthread.h>
#include <stdint.h>

enum { COUNT = 3 };
static pthread_mutex_t forks[COUNT];

static void *philosopher(void *seat) {
    intptr_t left = (intptr_t)seat, right = (left + 1) % COUNT;
    pthread_mutex_lock(&forks[left]);
    pthread_mutex_lock(&forks[right]);
    pthread_mutex_unlock(&forks[right]);
    pthread_mutex_unlock(&forks[left]);
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
    return 0;
}
