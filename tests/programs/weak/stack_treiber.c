// expect: ok
// weakened: -DPUSH=memory_order_relaxed -> race; sc: race
// weakened: -DLOOK=memory_order_relaxed -> race; sc: race
// weakened: -DAGAIN=memory_order_relaxed -> race; sc: race
// unbroken: -DTAKE=memory_order_relaxed
// Treiber's stack: nodes are pushed and popped by a compare-exchange of the top.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// Releases the node, both its value and its `next`.
#ifndef PUSH
#define PUSH memory_order_release
#endif
// Acquires it: `next` is read before anything else is done.
#ifndef LOOK
#define LOOK memory_order_acquire
#endif
// A failed compare-exchange is a look at the top, too.
#ifndef AGAIN
#define AGAIN memory_order_acquire
#endif
// By the time that the node is taken, it was acquired. And who takes the one below it reads from this update, which is
// in the release sequences of all nodes that were ever pushed.
#ifndef TAKE
#define TAKE memory_order_acquire
#endif

struct node {
    struct node *next;
    int value;
};

static struct node nodes[2];
static _Atomic(struct node *) top;
static int sums[2];

static void push(struct node *node) {
    struct node *seen = atomic_load_explicit(&top, memory_order_relaxed);
    do
        node->next = seen;
    while (!atomic_compare_exchange_strong_explicit(&top, &seen, node, PUSH, memory_order_relaxed));
}

static struct node *pop(void) {
    struct node *seen = atomic_load_explicit(&top, LOOK);
    while (seen && !atomic_compare_exchange_strong_explicit(&top, &seen, seen->next, TAKE, AGAIN))
        ;
    return seen;
}

static void *work(void *argument) {
    int self = argument != NULL;
    nodes[self].value = self + 1;
    push(&nodes[self]);
    struct node *mine = pop();
    assert(mine);
    sums[self] = mine->value;
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, nodes);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(sums[0] + sums[1] == 3 && !top);
    return 0;
}
