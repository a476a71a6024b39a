/* A queue of bounded size for several producers and consumers. One word counts the slots that were taken by either side,
 * and two others those that were given back: whoever takes a slot waits until all before it were given back.
 *
 * There is one element at first. One thread consumes until it finds nothing, one produces an element, and the others, of
 * N, produce and then consume. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "spin.h"

#ifndef N
#define N 3
#endif

enum { SLOTS = 10, MASK = 0xffff, READ = 1 << 16 };

static atomic_uint taken; /* by consumers: the upper half, by producers: the lower half */
static atomic_uint consumed, produced;
static atomic_int slots[SLOTS];

static atomic_int *begin_to_consume(void) {
    unsigned now = atomic_load(&taken), reads, writes;
    do {
        reads = now >> 16;
        writes = now & MASK;
        if (reads == writes)
            return NULL;
    } while (!atomic_compare_exchange_strong(&taken, &now, now + READ));
    spin_until((atomic_load(&produced) & MASK) == writes);
    return &slots[reads % SLOTS];
}

static atomic_int *begin_to_produce(void) {
    unsigned now = atomic_load(&taken), reads, writes;
    do {
        reads = now >> 16;
        writes = now & MASK;
        if (writes == ((reads + SLOTS) & MASK))
            return NULL;
    } while (!atomic_compare_exchange_strong(&taken, &now, reads << 16 | ((writes + 1) & MASK)));
    spin_until((atomic_load(&consumed) & MASK) == reads);
    return &slots[writes % SLOTS];
}

static void *run_producer(void *unused) {
    atomic_int *slot = begin_to_produce();
    if (slot) {
        atomic_store(slot, 1);
        atomic_fetch_add(&produced, 1);
    }
    return unused;
}

static void *run_consumer(void *unused) {
    atomic_int *slot;
    while ((slot = begin_to_consume())) {
        (void)atomic_load(slot);
        atomic_fetch_add(&consumed, 1);
    }
    return unused;
}

static void *run_both(void *unused) {
    run_producer(unused);
    return run_consumer(unused);
}

int main(void) {
    pthread_t consumer, producer, both, more;
    run_producer(NULL);
    pthread_create(&consumer, NULL, run_consumer, NULL);
    pthread_create(&producer, NULL, run_producer, NULL);
    pthread_create(&both, NULL, run_both, NULL);
    if (N > 3)
        pthread_create(&more, NULL, run_both, NULL);
    pthread_join(consumer, NULL);
    pthread_join(producer, NULL);
    pthread_join(both, NULL);
    if (N > 3)
        pthread_join(more, NULL);
    return 0;
}
