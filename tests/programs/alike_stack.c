// expect: ok
// traces: 6
// alike: 1
// Each thread makes a node of its own before it is known to others: blocks are called by their thread, and are alike, too.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static _Atomic(struct node *) top;

static void *push(void *unused) {
    struct node *node = malloc(sizeof *node);
    node->value = 1;
    node->next = atomic_exchange(&top, node);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int t = 0; t < 3; t++)
        pthread_create(&threads[t], NULL, push, NULL);
    for (int t = 0; t < 3; t++)
        pthread_join(threads[t], NULL);
    return 0;
}
