// expect: ok
// weakened: -DLINK=memory_order_relaxed -> race; sc: race
// weakened: -DSTEP=memory_order_relaxed -> race; sc: race
// weakened: -DUNMARKED -> assertion; sc: assertion
// unbroken: -DMARK=memory_order_relaxed
// unbroken: -DUNLINK=memory_order_relaxed
// Harris's list: a node is marked as removed in its own link, before it is unlinked, so that nobody links anything
// after it. Links are numbers of nodes, with the mark as the lowest bit.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// Releases the new node, with its key.
#ifndef LINK
#define LINK memory_order_release
#endif
// Acquires it, on the way through the list.
#ifndef STEP
#define STEP memory_order_acquire
#endif
// What is removed has nothing to tell: it is an update, which does not end the release sequence of who linked what is
// behind.
#ifndef MARK
#define MARK memory_order_acq_rel
#endif
// Makes the link before the node skip it, to one that was released by its own.
#ifndef UNLINK
#define UNLINK memory_order_release
#endif

enum { HEAD, REMOVED = 1 };

static struct node {
    atomic_uint next;
    int key;
} nodes[4];

static unsigned find(int key, unsigned *before) {
    *before = HEAD;
    unsigned at = atomic_load_explicit(&nodes[HEAD].next, STEP) >> 1;
    while (at != 0) {
        unsigned next = atomic_load_explicit(&nodes[at].next, STEP);
        if (next & REMOVED) {
            unsigned expected = at << 1;
            if (!atomic_compare_exchange_strong_explicit(&nodes[*before].next, &expected, next & ~REMOVED, UNLINK,
                                                         memory_order_relaxed))
                return find(key, before);
        } else if (nodes[at].key >= key) {
            break;
        } else {
            *before = at;
        }
        at = next >> 1;
    }
    return at;
}

static void insert(unsigned node, int key) {
    unsigned before, expected;
    nodes[node].key = key;
    do {
        expected = find(key, &before) << 1;
        atomic_store_explicit(&nodes[node].next, expected, memory_order_relaxed);
    } while (!atomic_compare_exchange_strong_explicit(&nodes[before].next, &expected, node << 1, LINK,
                                                      memory_order_relaxed));
}

static bool remove(int key) {
    unsigned before, at = find(key, &before);
    if (at == 0 || nodes[at].key != key)
        return false;
    unsigned next = atomic_load_explicit(&nodes[at].next, STEP);
#ifndef UNMARKED
    do
        if (next & REMOVED)
            return false;
    while (!atomic_compare_exchange_strong_explicit(&nodes[at].next, &next, next | REMOVED, MARK, STEP));
#endif
    unsigned expected = at << 1;
    atomic_compare_exchange_strong_explicit(&nodes[before].next, &expected, next, UNLINK, memory_order_relaxed);
    return true;
}

static bool removed;

static void *inserter(void *unused) {
    insert(2, 20);
    return unused;
}

static void *remover(void *unused) {
    assert(remove(10));
    removed = remove(20);
    return unused;
}

int main(void) {
    insert(1, 10);
    pthread_t a, b;
    pthread_create(&a, NULL, inserter, NULL);
    pthread_create(&b, NULL, remover, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(remove(20) != removed && nodes[HEAD].next == 0);
    return 0;
}
