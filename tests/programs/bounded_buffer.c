// expect: ok
// A bounded buffer with two condition variables.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

enum { SIZE = 1, ITEMS = 3 };
static struct {
    pthread_mutex_t lock;
    pthread_cond_t not_full, not_empty;
    int items[SIZE], count;
} buffer = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .not_full = PTHREAD_COND_INITIALIZER,
            .not_empty = PTHREAD_COND_INITIALIZER};

static void put(int item) {
    pthread_mutex_lock(&buffer.lock);
    while (buffer.count == SIZE)
        pthread_cond_wait(&buffer.not_full, &buffer.lock);
    buffer.items[buffer.count++] = item;
    pthread_cond_signal(&buffer.not_empty);
    pthread_mutex_unlock(&buffer.lock);
}

static int take(void) {
    pthread_mutex_lock(&buffer.lock);
    while (buffer.count == 0)
        pthread_cond_wait(&buffer.not_empty, &buffer.lock);
    int item = buffer.items[--buffer.count];
    pthread_cond_signal(&buffer.not_full);
    pthread_mutex_unlock(&buffer.lock);
    return item;
}

static void *producer(void *unused) {
    for (int i = 0; i < ITEMS; i++)
        put(i);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    for (int i = 0; i < ITEMS; i++)
        assert(take() == i);
    pthread_join(thread, NULL);
    return 0;
}
