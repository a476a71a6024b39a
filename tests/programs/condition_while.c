// expect: ok
// The same with `while`.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;

static void *consumer(void *unused) {
    pthread_mutex_lock(&lock);
    while (items == 0)
        pthread_cond_wait(&filled, &lock);
    assert(items > 0);
    items--;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *producer(void *unused) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        items++;
        pthread_cond_broadcast(&filled);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, NULL, consumer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_create(&c, NULL, producer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    pthread_cond_destroy(&filled);
    assert(items == 0);
    return 0;
}
