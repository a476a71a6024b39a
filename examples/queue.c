/* A correct lock-free queue, after Michael and Scott.
 *
 *     mazurka check examples/queue.c
 *
 * The queue is a list with a dummy node in front. `head` points to the dummy, `tail` to the last node, or, while
 * somebody is just appending, to the one before: then whoever comes first moves it on. Two threads append and one of
 * them takes; in every interleaving each item comes out once, and the items of one thread in the order in which it put
 * them in.
 *
 * To see the tool at work, break it: let `append` look at `last->next` and store to it in two steps, instead of one
 * compare-and-exchange. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct node {
    _Atomic(struct node *) next;
    int item;
};

static _Atomic(struct node *) head, tail;

static struct node *new_node(int item) {
    struct node *node = malloc(sizeof *node);
    atomic_init(&node->next, NULL);
    node->item = item;
    return node;
}

static void append(int item) {
    struct node *node = new_node(item);
    for (;;) {
        struct node *last = atomic_load(&tail);
        struct node *next = NULL;
        if (atomic_compare_exchange_strong(&last->next, &next, node)) {
            atomic_compare_exchange_strong(&tail, &last, node);
            return;
        }
        atomic_compare_exchange_strong(&tail, &last, next);
    }
}

/* Nodes that are taken out are not freed here: another thread may still look at them. */
static bool take(int *item) {
    for (;;) {
        struct node *dummy = atomic_load(&head);
        struct node *last = atomic_load(&tail);
        struct node *first = atomic_load(&dummy->next);
        if (first == NULL)
            return false;
        if (dummy == last)
            atomic_compare_exchange_strong(&tail, &last, first);
        *item = first->item;
        if (atomic_compare_exchange_strong(&head, &dummy, first))
            return true;
    }
}

static int next_item = 1, tens;

static void check(int item) {
    if (item == 10)
        tens++;
    else
        assert(item == next_item++);
}

static void *producer(void *unused) {
    append(1);
    append(2);
    return unused;
}

int main(void) {
    pthread_t thread;
    int item;
    struct node *dummy = new_node(0);
    head = dummy;
    tail = dummy;
    pthread_create(&thread, NULL, producer, NULL);
    append(10);
    if (take(&item))
        check(item);
    pthread_join(thread, NULL);
    while (take(&item))
        check(item);
    assert(tens == 1 && next_item == 3);
    return 0;
}
