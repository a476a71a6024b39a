// expect: ok
// Treiber's stack: two threads push, then everything is there.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};
static _Atomic(struct node *) top;

static void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = atomic_load(&top);
    while (!atomic_compare_exchange_weak(&top, &node->next, node))
        ;
}

static void *thread(void *unused) {
    push(1);
    return unused;
}

int main(void) {
    pthread_t other;
    int sum = 0;
    pthread_create(&other, NULL, thread, NULL);
    push(2);
    pthread_join(other, NULL);
    for (struct node *node = top, *next; node; node = next) {
        next = node->next;
        sum += node->value;
        free(node);
    }
    assert(sum == 3);
    return 0;
}
