// expect: ok
// A ring for one producer and one consumer: each polls until there is room, or an item.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define SIZE 2
#define ITEMS 3

struct ring {
    atomic_uint head; // the consumer's
    atomic_uint tail; // the producer's
    atomic_int items[SIZE];
};

static struct ring ring;

static bool ring_push(struct ring *r, int item) {
    unsigned tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    unsigned head = atomic_load_explicit(&r->head, memory_order_acquire);
    if (tail - head == SIZE)
        return false;
    atomic_store_explicit(&r->items[tail % SIZE], item, memory_order_relaxed);
    atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
    return true;
}

static bool ring_pop(struct ring *r, int *item) {
    unsigned head = atomic_load_explicit(&r->head, memory_order_relaxed);
    unsigned tail = atomic_load_explicit(&r->tail, memory_order_acquire);
    if (head == tail)
        return false;
    *item = atomic_load_explicit(&r->items[head % SIZE], memory_order_relaxed);
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
    return true;
}

static void *produce(void *unused) {
    for (int i = 1; i <= ITEMS; i++)
        while (!ring_push(&ring, i))
            sched_yield();
    return unused;
}

static void *consume(void *unused) {
    for (int i = 1; i <= ITEMS; i++) {
        int item;
        while (!ring_pop(&ring, &item))
            sched_yield();
        assert(item == i);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, produce, NULL);
    pthread_create(&threads[1], NULL, consume, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
