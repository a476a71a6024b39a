// expect: ok
// A queue under a mutex whose consumers ask again while it is empty.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int queue[4], first, last;

static void push(int value) {
    pthread_mutex_lock(&mutex);
    queue[last++ % 4] = value;
    pthread_mutex_unlock(&mutex);
}

static bool try_pop(int *value) {
    pthread_mutex_lock(&mutex);
    bool found = first != last;
    if (found)
        *value = queue[first++ % 4];
    pthread_mutex_unlock(&mutex);
    return found;
}

static void *consumer(void *sum) {
    int value;
    while (!try_pop(&value))
        sched_yield();
    *(int *)sum = value;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int sums[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, consumer, &sums[i]);
    push(1);
    push(2);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(sums[0] + sums[1] == 3);
    return 0;
}
