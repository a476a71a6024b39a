// expect: bug livelock
// Two consumers and one element: one of them asks for ever.
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int elements;

static bool try_pop(void) {
    pthread_mutex_lock(&mutex);
    bool found = elements > 0;
    if (found)
        elements--;
    pthread_mutex_unlock(&mutex);
    return found;
}

static void *consumer(void *unused) {
    while (!try_pop())
        sched_yield();
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, consumer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_mutex_lock(&mutex);
    elements = 1;
    pthread_mutex_unlock(&mutex);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
