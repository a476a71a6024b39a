// expect: bug assertion
// The place in the ring is taken by a load and a store: two producers may take the same one.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define SIZE 2

struct cell {
    atomic_uint sequence;
    int item;
};

static struct cell cells[SIZE];
static atomic_uint enqueued, dequeued;
static atomic_int sum;

static bool enqueue(int item) {
    unsigned at = atomic_load(&enqueued);
    for (;;) {
        struct cell *cell = &cells[at % SIZE];
        int ahead = (int)(atomic_load(&cell->sequence) - at);
        if (ahead < 0)
            return false; // full
        if (ahead == 0) {
            atomic_store(&enqueued, at + 1);
            atomic_store((atomic_int *)&cell->item, item);
            atomic_store(&cell->sequence, at + 1);
            return true;
        }
        if (ahead > 0)
            at = atomic_load(&enqueued);
    }
}

static bool dequeue(int *item) {
    unsigned at = atomic_load(&dequeued);
    for (;;) {
        struct cell *cell = &cells[at % SIZE];
        int ahead = (int)(atomic_load(&cell->sequence) - (at + 1));
        if (ahead < 0)
            return false; // empty
        if (ahead == 0 && atomic_compare_exchange_strong(&dequeued, &at, at + 1)) {
            *item = atomic_load((atomic_int *)&cell->item);
            atomic_store(&cell->sequence, at + SIZE);
            return true;
        }
        if (ahead > 0)
            at = atomic_load(&dequeued);
    }
}

static void *produce(void *item) {
    while (!enqueue((int)(long)item))
        sched_yield();
    return NULL;
}

static void *consume(void *unused) {
    int item;
    while (!dequeue(&item))
        sched_yield();
    atomic_fetch_add(&sum, item);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (unsigned i = 0; i < SIZE; i++)
        atomic_init(&cells[i].sequence, i);
    pthread_create(&threads[0], NULL, produce, (void *)1);
    pthread_create(&threads[1], NULL, produce, (void *)2);
    pthread_create(&threads[2], NULL, consume, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    int last;
    assert(dequeue(&last));
    assert(sum + last == 3);
    return 0;
}
