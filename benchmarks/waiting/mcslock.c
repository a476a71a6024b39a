/* The queue lock of Mellor-Crummey and Scott, as in Linux: everyone waits on a node of their own, which the one before
 * them in the queue sets free. N threads take it once. */
#include <assert.h>
#include <pthread.h>
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
static int shared;

static void acquire(Node *node) {
    atomic_store(&node->granted, 0);
    atomic_store(&node->next, NULL);
    Node *previous = atomic_exchange(&tail, node);
    if (previous == NULL)
        return;
    atomic_store(&previous->next, node);
    spin_until(atomic_load(&node->granted));
}

static void release(Node *node) {
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

static void *run(void *argument) {
    int id = (int)(intptr_t)argument;
    acquire(&nodes[id]);
    shared = id;
    assert(shared == id);
    release(&nodes[id]);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int t = 0; t < N; t++)
        pthread_create(&threads[t], NULL, run, (void *)(intptr_t)t);
    for (int t = 0; t < N; t++)
        pthread_join(threads[t], NULL);
    return 0;
}
