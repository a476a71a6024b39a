// expect: ok
// weakened: -DANNOUNCE=memory_order_acq_rel -> memory; sc: ok; tso: memory
// weakened: -DRETIRE=memory_order_acq_rel -> memory; sc: ok
// weakened: -DCLEAR=memory_order_relaxed -> race; sc: race
// weakened: -DASK=memory_order_relaxed -> race; sc: race
// weakened: -DLINK=memory_order_relaxed -> race; sc: race
// unbroken: -DTAKE=memory_order_relaxed
// weakened: -DUNPROTECTED -> memory; sc: memory
// The queue of Michael and Scott with hazard pointers, here with one producer and two consumers: each protects the
// first node and the one after it, since the value is read in there.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

// Between "I look at this" and the look at whether it is still in the queue, and
#ifndef ANNOUNCE
#define ANNOUNCE memory_order_seq_cst
#endif
// between taking it out and the look at who looks at it: store buffering.
#ifndef RETIRE
#define RETIRE memory_order_seq_cst
#endif
// Releases that it was read; the one who frees it acquires that.
#ifndef CLEAR
#define CLEAR memory_order_release
#endif
#ifndef ASK
#define ASK memory_order_acquire
#endif
// Releases a node to the consumers. They acquire it by the fence after their announcement.
#ifndef LINK
#define LINK memory_order_release
#endif
// That the first node is taken. Who takes the node after that reads from here, and would so get to know that its value
// was read; but those who find it taken have read where the next one is, and only CLEAR tells of that.
#ifndef TAKE
#define TAKE memory_order_release
#endif

struct node {
    _Atomic(struct node *) next;
    int value;
};

static _Atomic(struct node *) head;
static _Atomic(struct node *) hazards[2][2];
static int sums[2];

static struct node *make(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    atomic_init(&node->next, NULL);
    return node;
}

// Frees a node, if nobody looks at it.
static void retire(int self, struct node *node) {
    atomic_thread_fence(RETIRE);
    for (int i = 0; i < 2; i++)
        if (atomic_load_explicit(&hazards[1 - self][i], ASK) == node)
            return;  // (It would try again later.)
    node->value = 0;
    free(node);
}

static void protect(int self, int which, struct node *node) {
    atomic_store_explicit(&hazards[self][which], node, CLEAR);
}

static int take(int self) {
    struct node *first, *next, *expected;
    int value = 0;
    do {
        expected = first = atomic_load_explicit(&head, memory_order_relaxed);
        protect(self, 0, first);
        atomic_thread_fence(ANNOUNCE);
        if (atomic_load_explicit(&head, memory_order_relaxed) != first)
            continue;
        next = atomic_load_explicit(&first->next, memory_order_relaxed);
        if (!next)
            break;
#ifndef UNPROTECTED
        protect(self, 1, next);
#endif
        atomic_thread_fence(ANNOUNCE);
        if (atomic_load_explicit(&head, memory_order_relaxed) != first)
            continue;
        value = next->value;
        if (atomic_compare_exchange_strong_explicit(&head, &expected, next, TAKE, memory_order_relaxed))
            break;
    } while (1);
    protect(self, 0, NULL);
    protect(self, 1, NULL);
    if (next)
        retire(self, first);
    return next ? value : 0;
}

static void *consume_two(void *unused) {
    sums[0] += take(0);
    sums[0] += take(0);
    return unused;
}

static void *consume_one(void *unused) {
    sums[1] += take(1);
    return unused;
}

static struct node *last;

static void *produce(void *unused) {
    struct node *node = make(2);
    atomic_store_explicit(&last->next, node, LINK);
    return unused;
}

int main(void) {
    struct node *dummy = make(0);
    last = make(1);
    atomic_init(&dummy->next, last);
    head = dummy;
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, consume_two, NULL);
    pthread_create(&threads[1], NULL, consume_one, NULL);
    pthread_create(&threads[2], NULL, produce, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    int left = 0;
    for (struct node *node = atomic_load(&head->next); node; node = node->next)
        left += node->value;
    assert(sums[0] + sums[1] + left == 3);
    return 0;
}
