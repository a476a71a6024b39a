/* Treiber's lock-free stack. Two threads push, and the others, of N, push and then pop. Nothing is freed, so that no node
 * comes back. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#ifndef N
#define N 3
#endif

typedef struct Node {
    int value;
    _Atomic(struct Node *) next;
} Node;

static _Atomic(Node *) top;

static void push(int value) {
    Node *node = malloc(sizeof *node);
    node->value = value;
    Node *next;
    do {
        next = atomic_load(&top);
        atomic_store(&node->next, next);
    } while (!atomic_compare_exchange_strong(&top, &next, node));
}

static int pop(void) {
    Node *node, *next, *expected;
    do {
        node = expected = atomic_load(&top);
        assert(node != NULL);
        next = atomic_load(&node->next);
    } while (!atomic_compare_exchange_strong(&top, &expected, next));
    return node->value;
}

static void *run_pusher(void *unused) {
    push(42);
    return unused;
}

static void *run_both(void *unused) {
    push(42);
    assert(pop() == 42);
    return unused;
}

int main(void) {
    pthread_t threads[N];
    for (int t = 0; t < N; t++)
        pthread_create(&threads[t], NULL, t < 2 ? run_pusher : run_both, NULL);
    for (int t = 0; t < N; t++)
        pthread_join(threads[t], NULL);
    return 0;
}
