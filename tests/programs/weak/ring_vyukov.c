// expect: ok
// weakened: -DFILLED=memory_order_relaxed -> race; sc: race
// weakened: -DFULL=memory_order_relaxed -> race; sc: race
// weakened: -DEMPTIED=memory_order_relaxed -> race; sc: race
// weakened: -DEMPTY=memory_order_relaxed -> race; sc: race
// unbroken: -DCLAIM=memory_order_relaxed
// Vyukov's bounded queue for many producers and consumers: each cell has a number that says in which round it is filled
// and emptied.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// Releases what is in the cell to its consumer,
#ifndef FILLED
#define FILLED memory_order_release
#endif
// who acquires it.
#ifndef FULL
#define FULL memory_order_acquire
#endif
// Releases the cell to the producer of the next round,
#ifndef EMPTIED
#define EMPTIED memory_order_release
#endif
// who acquires it.
#ifndef EMPTY
#define EMPTY memory_order_acquire
#endif
// Which cell is whose needs to be atomic, and nothing else.
#ifndef CLAIM
#define CLAIM memory_order_acq_rel
#endif

enum { SIZE = 2, MASK = SIZE - 1 };

static struct cell {
    atomic_uint number;
    int value;
} cells[SIZE];
static atomic_uint first, end;
static int taken[2];

static void put(int value) {
    unsigned place;
    struct cell *cell;
    do {
        place = atomic_load_explicit(&end, memory_order_relaxed);
        cell = &cells[place & MASK];
    } while (atomic_load_explicit(&cell->number, EMPTY) != place ||
             !atomic_compare_exchange_strong_explicit(&end, &place, place + 1, CLAIM, memory_order_relaxed));
    cell->value = value;
    atomic_store_explicit(&cell->number, place + 1, FILLED);
}

static int take(void) {
    unsigned place;
    struct cell *cell;
    do {
        place = atomic_load_explicit(&first, memory_order_relaxed);
        cell = &cells[place & MASK];
    } while (atomic_load_explicit(&cell->number, FULL) != place + 1 ||
             !atomic_compare_exchange_strong_explicit(&first, &place, place + 1, CLAIM, memory_order_relaxed));
    int value = cell->value;
    atomic_store_explicit(&cell->number, place + SIZE, EMPTIED);
    return value;
}

static void *put_and_take(void *unused) {
    put(2);
    taken[0] = take();
    return unused;
}

static void *take_and_put(void *unused) {
    taken[1] = take();
    put(3);
    return unused;
}

int main(void) {
    pthread_t a, b;
    for (unsigned i = 0; i < SIZE; i++)
        cells[i].number = i;
    put(1);
    pthread_create(&a, NULL, put_and_take, NULL);
    pthread_create(&b, NULL, take_and_put, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(taken[0] + taken[1] + take() == 6);
    return 0;
}
