// expect: ok
// weakened: -DSWAP=memory_order_acquire -> livelock; sc: ok
// weakened: -DSWAP=memory_order_release -> race; sc: race
// weakened: -DLINK=memory_order_relaxed -> livelock; sc: ok
// weakened: -DFOLLOW=memory_order_relaxed -> livelock; sc: ok
// weakened: -DHAND_OVER=memory_order_relaxed -> race; sc: race
// weakened: -DAWAIT=memory_order_relaxed -> race; sc: race
// weakened: -DLEAVE=memory_order_relaxed -> race; sc: race
// The queue lock of Mellor-Crummey and Scott: each thread spins on a node of its own.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// Joins the queue. It releases the node: otherwise its `next`, set by the one who comes after, may be the earlier value
// for `next` being cleared here, and the owner waits for it for ever. It acquires from who left the queue empty.
#ifndef SWAP
#define SWAP memory_order_acq_rel
#endif
// Shows the node to the one before; and FOLLOW sees it. Otherwise `waits` may be true for good, since its being cleared
// comes before its being set in the order of that variable.
#ifndef LINK
#define LINK memory_order_release
#endif
#ifndef FOLLOW
#define FOLLOW memory_order_acquire
#endif
// Passes the lock on, and with it what the owner did.
#ifndef HAND_OVER
#define HAND_OVER memory_order_release
#endif
#ifndef AWAIT
#define AWAIT memory_order_acquire
#endif
// Leaves an empty queue to whoever comes next, who acquires by SWAP.
#ifndef LEAVE
#define LEAVE memory_order_release
#endif

struct node {
    _Atomic(struct node *) next;
    atomic_bool waits;
};

static struct node nodes[2];
static _Atomic(struct node *) tail;
static int counter;

static void lock(struct node *me) {
    atomic_store_explicit(&me->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&me->waits, true, memory_order_relaxed);
    struct node *before = atomic_exchange_explicit(&tail, me, SWAP);
    if (before) {
        atomic_store_explicit(&before->next, me, LINK);
        while (atomic_load_explicit(&me->waits, AWAIT))
            ;
    }
}

static void unlock(struct node *me) {
    struct node *after = atomic_load_explicit(&me->next, FOLLOW);
    if (!after) {
        struct node *expected = me;
        if (atomic_compare_exchange_strong_explicit(&tail, &expected, NULL, LEAVE, memory_order_relaxed))
            return;
        while (!(after = atomic_load_explicit(&me->next, FOLLOW)))
            ;
    }
    atomic_store_explicit(&after->waits, false, HAND_OVER);
}

static void *work(void *mine) {
    lock(mine);
    counter++;
    unlock(mine);
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
