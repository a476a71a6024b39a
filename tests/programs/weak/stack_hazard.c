// expect: ok
// weakened: -DANNOUNCE=memory_order_acq_rel -> memory; sc: ok; tso: memory
// weakened: -DRETIRE=memory_order_acq_rel -> memory; sc: ok
// weakened: -DDONE=memory_order_relaxed -> race; sc: race
// weakened: -DASK=memory_order_relaxed -> race; sc: race
// weakened: -DPUSH=memory_order_relaxed -> race; sc: race
// weakened: -DUNCHECKED -> memory; sc: memory
// unbroken: -DLOOK=memory_order_relaxed
// Treiber's stack with hazard pointers: a node is freed once nobody says that he is looking at it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

// Between "I look at this node" and the look at whether it is still on the stack, and
#ifndef ANNOUNCE
#define ANNOUNCE memory_order_seq_cst
#endif
// between taking it off and the look at who looks at it: store buffering. If neither sees the other, one frees what the
// other reads. UNCHECKED leaves the second look at the stack out, which is wrong in any order.
#ifndef RETIRE
#define RETIRE memory_order_seq_cst
#endif
// Releases what the reader has read, to whoever finds that it looks at nothing any more, or at something else,
#ifndef DONE
#define DONE memory_order_release
#endif
// and acquires it: otherwise the reads may come after the node is overwritten, as it is before it is freed.
#ifndef ASK
#define ASK memory_order_acquire
#endif
#ifndef PUSH
#define PUSH memory_order_release
#endif
// Acquires the node; so does the fence that follows.
#ifndef LOOK
#define LOOK memory_order_acquire
#endif

struct node {
    struct node *next;
    int value;
};

static _Atomic(struct node *) top;
static _Atomic(struct node *) hazards[2];
static int sums[2];

static void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    struct node *seen = atomic_load_explicit(&top, memory_order_relaxed);
    do
        node->next = seen;
    while (!atomic_compare_exchange_strong_explicit(&top, &seen, node, PUSH, memory_order_relaxed));
}

static int pop(int self) {
    struct node *seen;
    do {
        seen = atomic_load_explicit(&top, LOOK);
        atomic_store_explicit(&hazards[self], seen, DONE);
        atomic_thread_fence(ANNOUNCE);
#ifndef UNCHECKED
        if (atomic_load_explicit(&top, memory_order_relaxed) != seen)
            continue;
#endif
        struct node *next = seen->next;
        struct node *expected = seen;
        if (atomic_compare_exchange_strong_explicit(&top, &expected, next, memory_order_relaxed, memory_order_relaxed))
            break;
    } while (1);
    atomic_store_explicit(&hazards[self], NULL, DONE);
    int value = seen->value;
    atomic_thread_fence(RETIRE);
    while (atomic_load_explicit(&hazards[1 - self], ASK) == seen)
        ;
    seen->next = NULL;
    free(seen);
    return value;
}

static void *push_and_pop(void *unused) {
    push(2);
    sums[0] = pop(0);
    return unused;
}

static void *only_pop(void *unused) {
    sums[1] = pop(1);
    return unused;
}

int main(void) {
    pthread_t a, b;
    push(1);
    pthread_create(&a, NULL, push_and_pop, NULL);
    pthread_create(&b, NULL, only_pop, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(sums[0] + sums[1] == 3 && !top);
    return 0;
}
