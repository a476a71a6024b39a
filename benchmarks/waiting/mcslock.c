/* The queue lock of Mellor-Crummey and Scott, as in Linux: everyone waits on a node of their own, which the one before
 * them in the queue sets free. N threads take it once. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "spin.h"

#ifndef N
#define N 3
#endif

typedef struct Node {
    _Atomic(struct Node *) next;
    atomic_int granted;
} Node;

static _Atomic(Node *) tail;
static Node nodes[N];

static void acquire(int id) {
    Node *node = &nodes[id];
    atomic_store(&node->granted, 0);
    atomic_store(&node->next, NULL);
    Node *previous = atomic_exchange(&tail, node);
    if (previous == NULL)
        return;
    atomic_store(&previous->next, node);
    spin_until(atomic_load(&node->granted));
}

static void release(int id) {
    Node *node = &nodes[id];
    Node *next = atomic_load(&node->next);
    if (next == NULL) {
        Node *expected = node;
        if (atomic_compare_exchange_strong(&tail, &expected, NULL))
            return;
        do
            next = atomic_load(&node->next);
        while (next == NULL);
    }
    atomic_store(&next->granted, 1);
}

#include "lock.h"
