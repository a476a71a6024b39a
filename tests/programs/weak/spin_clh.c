// expect: ok
// weakened: -DSWAP=memory_order_acquire -> race; sc: ok
// weakened: -DSWAP=memory_order_release -> race; sc: ok
// weakened: -DAWAIT=memory_order_relaxed -> race; sc: race
// weakened: -DUNLOCK=memory_order_relaxed -> race; sc: race
// weakened: -DSWAP=memory_order_relaxed -> assertion; sc: ok
// The queue lock of Craig, Landin and Hagersten: each thread spins on the node of the one before it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// Releases that the node is busy, and acquires that the one before is: otherwise it may look free, as it was before.
#ifndef SWAP
#define SWAP memory_order_acq_rel
#endif
// Acquires what the one before has done,
#ifndef AWAIT
#define AWAIT memory_order_acquire
#endif
// which this releases.
#ifndef UNLOCK
#define UNLOCK memory_order_release
#endif

struct node {
    atomic_bool busy;
};

static struct node none, nodes[2];
static _Atomic(struct node *) tail = &none;
static int counter;
static atomic_int inside;

static void *work(void *argument) {
    struct node *mine = argument;
    atomic_store_explicit(&mine->busy, true, memory_order_relaxed);
    struct node *before = atomic_exchange_explicit(&tail, mine, SWAP);
    while (atomic_load_explicit(&before->busy, AWAIT))
        ;
    assert(atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed) == 0);
    counter++;
    atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
    atomic_store_explicit(&mine->busy, false, UNLOCK);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &nodes[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 2);
    return 0;
}
