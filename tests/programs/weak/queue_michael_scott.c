// expect: ok
// weakened: -DLINK=memory_order_relaxed -> race; sc: race
// weakened: -DFOLLOW=memory_order_relaxed -> race; sc: race
// weakened: -DSWING=memory_order_relaxed -> assertion; sc: ok
// weakened: -DLAST=memory_order_relaxed -> assertion; sc: ok
// The queue of Michael and Scott: nodes are linked to the last one, and whoever finds the tail behind helps it on.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// Releases the value to who takes it out.
#ifndef LINK
#define LINK memory_order_release
#endif
// Acquires it.
#ifndef FOLLOW
#define FOLLOW memory_order_acquire
#endif
// Releases that `next` was cleared; who links the node after it has to come after that, in the order of this variable,
// or what it has put into the queue is lost again. It does not matter who swings the tail.
#ifndef SWING
#define SWING memory_order_release
#endif
// Acquires it.
#ifndef LAST
#define LAST memory_order_acquire
#endif

struct node {
    _Atomic(struct node *) next;
    int value;
};

static struct node nodes[3];
static _Atomic(struct node *) head = nodes, tail = nodes;

static void swing(struct node *from, struct node *to) {
    atomic_compare_exchange_strong_explicit(&tail, &from, to, SWING, memory_order_relaxed);
}

static void put(struct node *node, int value) {
    node->value = value;
    atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
    for (;;) {
        struct node *last = atomic_load_explicit(&tail, LAST);
        struct node *next = NULL;
        if (atomic_compare_exchange_strong_explicit(&last->next, &next, node, LINK, FOLLOW)) {
            swing(last, node);
            return;
        }
        swing(last, next);
    }
}

static bool take(int *value) {
    for (;;) {
        struct node *first = atomic_load_explicit(&head, memory_order_acquire);
        struct node *last = atomic_load_explicit(&tail, LAST);
        struct node *next = atomic_load_explicit(&first->next, FOLLOW);
        if (!next)
            return false;
        if (first == last)
            swing(last, next);
        *value = next->value;
        if (atomic_compare_exchange_strong_explicit(&head, &first, next, memory_order_release, memory_order_relaxed))
            return true;
    }
}

static void *only_put(void *unused) {
    put(&nodes[1], 1);
    return unused;
}

static int first;

static void *put_and_take(void *unused) {
    put(&nodes[2], 2);
    assert(take(&first));
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, only_put, NULL);
    pthread_create(&b, NULL, put_and_take, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    int second = 0, none;
    assert(take(&second) && first + second == 3 && !take(&none));
    return 0;
}
