// expect: ok
// weakened: -DPUSH=memory_order_relaxed -> race; sc: race
// weakened: -DLOOK=memory_order_relaxed -> assertion; sc: ok
// weakened: -DUNTAGGED -> assertion; sc: assertion
// weakened: -DAGAIN=memory_order_relaxed -> assertion; sc: ok
// unbroken: -DTAKE=memory_order_relaxed
// Treiber's stack of nodes that are used again: the top is the number of a node, and of the change (ABA): with
// UNTAGGED, a node that was taken and put back is not told from one that has stayed. What is below a node may be read
// while the node is in use elsewhere, so that has to be atomic.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// Releases what is in the node, and what is below it.
#ifndef PUSH
#define PUSH memory_order_release
#endif
// Acquires that: from an older value of `below`, another stack would come.
#ifndef LOOK
#define LOOK memory_order_acquire
#endif
#ifndef AGAIN
#define AGAIN memory_order_acquire
#endif
// The node was acquired by then.
#ifndef TAKE
#define TAKE memory_order_acquire
#endif

enum { NODE = 0xff, CHANGE = 0x100 };
#ifdef UNTAGGED
enum { TAG = 0 };
#else
enum { TAG = ~NODE };
#endif

static struct node {
    atomic_uint below;
    int value, uses;
} nodes[3];  // the first one is none
static atomic_uint top;

static void push(unsigned node) {
    unsigned seen = atomic_load_explicit(&top, memory_order_relaxed), mine;
    do {
        atomic_store_explicit(&nodes[node].below, seen & NODE, memory_order_relaxed);
        mine = ((seen + CHANGE) & TAG) | node;
    } while (!atomic_compare_exchange_strong_explicit(&top, &seen, mine, PUSH, memory_order_relaxed));
}

static unsigned pop(void) {
    unsigned seen = atomic_load_explicit(&top, LOOK), rest;
    do {
        if ((seen & NODE) == 0)
            return 0;
        unsigned below = atomic_load_explicit(&nodes[seen & NODE].below, memory_order_relaxed);
        rest = ((seen + CHANGE) & TAG) | below;
    } while (!atomic_compare_exchange_strong_explicit(&top, &seen, rest, TAKE, AGAIN));
    return seen & NODE;
}

static void use(unsigned node) {
    assert(nodes[node].uses++ == 0);
    nodes[node].value = 0;
}

static void *one(void *unused) {
    unsigned node = pop();
    if (node)
        use(node);
    return unused;
}

static void *several(void *unused) {
    unsigned first = pop(), second = pop();
    if (second)
        use(second);
    if (first) {
        nodes[first].value = 3;
        push(first);
    }
    return unused;
}

int main(void) {
    push(1);
    push(2);
    pthread_t a, b;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, several, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    for (unsigned node; (node = pop()) != 0;)
        use(node);
    return 0;
}
