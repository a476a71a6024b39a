// expect: ok
// weakened: -DSWAP=memory_order_release -> livelock; sc: ok
// weakened: -DSWAP=memory_order_acquire -> livelock; sc: ok
// weakened: -DLINK=memory_order_relaxed -> race; sc: race
// weakened: -DFOLLOW=memory_order_relaxed -> race; sc: race
// Vyukov's queue of many producers and one consumer: a node is put last by an exchange, and linked to the one before it
// after that.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// Releases that the node's `next` was cleared, and acquires that of the one before, which is about to be set: otherwise
// the clearing may come after the setting, and the consumer waits for ever.
#ifndef SWAP
#define SWAP memory_order_acq_rel
#endif
// Releases the value; and the consumer acquires it.
#ifndef LINK
#define LINK memory_order_release
#endif
#ifndef FOLLOW
#define FOLLOW memory_order_acquire
#endif

struct node {
    _Atomic(struct node *) next;
    int value;
};

static struct node stub, nodes[2];
static _Atomic(struct node *) last = &stub;

static void *produce(void *argument) {
    struct node *node = argument;
    node->value = 1;
    atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
    struct node *before = atomic_exchange_explicit(&last, node, SWAP);
    atomic_store_explicit(&before->next, node, LINK);
    return NULL;
}

static void *consume(void *unused) {
    struct node *first = &stub;
    for (int i = 0; i < 2; i++) {
        struct node *next;
        while (!(next = atomic_load_explicit(&first->next, FOLLOW)))
            ;
        assert(next->value == 1);
        first = next;
    }
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, produce, &nodes[0]);
    pthread_create(&threads[1], NULL, produce, &nodes[1]);
    pthread_create(&threads[2], NULL, consume, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
