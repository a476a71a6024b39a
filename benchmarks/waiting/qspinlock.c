/* The queued spinlock of Linux: one word says whether the lock is taken, whether somebody is next (`PENDING`), and who is
 * last in a queue of the others. The one who is next waits for the word, those in the queue for a node of their own,
 * as in an MCS lock. N threads take it once. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "spin.h"

#ifndef N
#define N 3
#endif

enum { LOCKED = 1, PENDING = 1 << 8, LOCKED_MASK = 0xff, LOCKED_PENDING_MASK = 0xffff, TAIL_SHIFT = 16 };

typedef struct Node {
    _Atomic(struct Node *) next;
    atomic_int granted;
} Node;

static atomic_uint word;
static Node nodes[N];

/* What the word was; if that is `from`, it has changed. */
static unsigned change(unsigned from, unsigned to) {
    atomic_compare_exchange_strong(&word, &from, to);
    return from;
}

static unsigned exchange_tail(unsigned tail) {
    unsigned value, old = atomic_load(&word);
    do {
        value = old;
        old = change(value, (value & LOCKED_PENDING_MASK) | tail);
    } while (old != value);
    return old;
}

static void acquire_in_queue(int id) {
    Node *node = &nodes[id], *next = NULL;
    unsigned tail = (unsigned)(id + 1) << TAIL_SHIFT;
    atomic_store(&node->granted, 0);
    atomic_store(&node->next, NULL);
    if (change(0, LOCKED) == 0)
        return;

    unsigned previous = exchange_tail(tail) >> TAIL_SHIFT;
    if (previous != 0) {
        atomic_store(&nodes[previous - 1].next, node);
        spin_until(atomic_load(&node->granted));
        next = atomic_load(&node->next);
    }

    unsigned value;
    spin_until(((value = atomic_load(&word)) & LOCKED_PENDING_MASK) == 0);
    if (value == tail && change(tail, LOCKED) == tail)
        return;
    atomic_fetch_add(&word, LOCKED);
    if (next == NULL)
        spin_until((next = atomic_load(&node->next)) != NULL);
    atomic_store(&next->granted, 1);
}

static void acquire(int id) {
    unsigned value = change(0, LOCKED);
    if (value == 0)
        return;
    if (value == PENDING) /* being handed over */
        spin_until((value = atomic_load(&word)) != PENDING);

    for (;;) {
        if (value & ~LOCKED_MASK) {
            acquire_in_queue(id);
            return;
        }
        unsigned to = value == LOCKED ? LOCKED | PENDING : LOCKED;
        unsigned old = change(value, to);
        if (old == value)
            break;
        value = old;
    }
    if (value == 0)
        return;
    spin_until((atomic_load(&word) & LOCKED_MASK) == 0);
    atomic_fetch_add(&word, LOCKED - PENDING);
}

static void release(int id) {
    (void)id;
    atomic_fetch_sub(&word, LOCKED);
}

#include "lock.h"
