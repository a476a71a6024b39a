/* The lock-free queue of Michael and Scott. One thread takes an element out, one puts one in, one does both. Nothing is
 * freed, so that no node comes back. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct Node {
    int value;
    _Atomic(struct Node *) next;
} Node;

enum { NOTHING = -1 };

static _Atomic(Node *) head, tail;

static Node *new_node(int value) {
    Node *node = malloc(sizeof *node);
    node->value = value;
    atomic_init(&node->next, NULL);
    return node;
}

static void enqueue(int value) {
    Node *node = new_node(value), *last;
    for (;;) {
        last = atomic_load(&tail);
        Node *next = atomic_load(&last->next);
        if (atomic_load(&tail) != last)
            continue;
        if (next == NULL && atomic_compare_exchange_strong(&last->next, &next, node))
            break;
        next = atomic_load(&last->next);
        atomic_compare_exchange_strong(&tail, &last, next); /* help whoever has not come to that */
    }
    atomic_compare_exchange_strong(&tail, &last, node);
}

static int dequeue(void) {
    for (;;) {
        Node *first = atomic_load(&head), *last = atomic_load(&tail);
        Node *next = atomic_load(&first->next);
        if (atomic_load(&head) != first)
            continue;
        if (first == last) {
            if (next == NULL)
                return NOTHING;
            atomic_compare_exchange_strong(&tail, &last, next);
        } else {
            int value = next->value;
            if (atomic_compare_exchange_strong(&head, &first, next))
                return value;
        }
    }
}

static void *run_taker(void *unused) {
    int value = dequeue();
    assert(value == NOTHING || value == 42);
    return unused;
}

static void *run_putter(void *unused) {
    enqueue(42);
    return unused;
}

static void *run_both(void *unused) {
    run_putter(unused);
    return run_taker(unused);
}

int main(void) {
    pthread_t taker, putter, both;
    Node *node = new_node(0);
    atomic_init(&head, node);
    atomic_init(&tail, node);
    pthread_create(&taker, NULL, run_taker, NULL);
    pthread_create(&putter, NULL, run_putter, NULL);
    pthread_create(&both, NULL, run_both, NULL);
    pthread_join(taker, NULL);
    pthread_join(putter, NULL);
    pthread_join(both, NULL);
    return 0;
}
