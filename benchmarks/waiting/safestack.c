/* Vyukov's SafeStack: a lock-free stack of array items that was meant to be immune to the ABA problem, and is not.
 *
 * Popping claims an item by exchanging its `next` for -1, then moves the head, and gives `next` back if that fails. The
 * last item is never popped. Three threads do A, B and C operations, alternately popping an item, which is theirs
 * until they push it back. The smallest numbers with which two threads get the same item are 3, 3 and 1. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#ifndef A
#define A 3
#endif
#ifndef B
#define B 3
#endif
#ifndef C
#define C 1
#endif

enum { ITEMS = 3, NONE = -1 };

typedef struct {
    int value; /* of whoever popped the item */
    atomic_int next;
} Item;

static Item items[ITEMS];
static atomic_int head, count;

static int try_to_pop(void) {
    while (atomic_load(&count) > 1) {
        int top = atomic_load(&head);
        int next = atomic_exchange(&items[top].next, NONE);
        if (next >= 0) {
            int expected = top;
            if (atomic_compare_exchange_strong(&head, &expected, next)) {
                atomic_fetch_sub(&count, 1);
                return top;
            }
            atomic_exchange(&items[top].next, next);
        }
    }
    return NONE;
}

static int pop(void) {
    int item;
    do
        item = try_to_pop();
    while (item == NONE);
    return item;
}

static void push(int item) {
    int top;
    do {
        top = atomic_load(&head);
        atomic_store(&items[item].next, top);
    } while (!atomic_compare_exchange_strong(&head, &top, item));
    atomic_fetch_add(&count, 1);
}

static void use(int item, int thread) {
#ifndef UNCHECKED
    items[item].value = thread;
    assert(items[item].value == thread);
#endif
}

static void work(int thread, int operations) {
    int item = NONE;
    for (int operation = 0; operation < operations; operation++) {
        if (operation % 2 == 0) {
            item = pop();
            use(item, thread);
        } else {
            push(item);
        }
    }
}

static void *run(void *argument) {
    static const int operations[] = {A, B, C};
    int thread = (int)(intptr_t)argument;
    work(thread, operations[thread]);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    atomic_init(&count, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        atomic_init(&items[i].next, i + 1 < ITEMS ? i + 1 : NONE);
    for (int t = 0; t < 3; t++)
        pthread_create(&threads[t], NULL, run, (void *)(intptr_t)t);
    for (int t = 0; t < 3; t++)
        pthread_join(threads[t], NULL);
    return 0;
}
