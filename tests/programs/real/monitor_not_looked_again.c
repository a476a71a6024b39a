// expect: bug assertion
// Between the signal and the wake-up, another consumer may have come.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct buffer {
    pthread_mutex_t lock;
    pthread_cond_t not_empty;
    int count;
    int items[2];
};

static struct buffer buffer = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, {0}};
static atomic_int sum;

static void put(int item) {
    pthread_mutex_lock(&buffer.lock);
    buffer.items[buffer.count++] = item;
    pthread_cond_signal(&buffer.not_empty);
    pthread_mutex_unlock(&buffer.lock);
}

static int get(void) {
    pthread_mutex_lock(&buffer.lock);
    if (buffer.count == 0)
        pthread_cond_wait(&buffer.not_empty, &buffer.lock);
    assert(buffer.count > 0);
    int item = buffer.items[--buffer.count];
    pthread_mutex_unlock(&buffer.lock);
    return item;
}

static void *produce(void *unused) {
    put(1);
    put(2);
    return unused;
}

static void *consume(void *unused) {
    atomic_fetch_add(&sum, get());
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, produce, NULL);
    pthread_create(&threads[1], NULL, consume, NULL);
    pthread_create(&threads[2], NULL, consume, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(sum == 3);
    return 0;
}
