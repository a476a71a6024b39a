// expect: bug memory
// line: 15
// A lock-free pop that frees at once: another one may still look at the node.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
};
static _Atomic(struct node *) top;

static void *pop(void *unused) {
    struct node *node = atomic_load(&top);
    while (node && !atomic_compare_exchange_strong(&top, &node, node->next))
        ;
    free(node);
    return unused;
}

int main(void) {
    pthread_t a, b;
    for (int i = 0; i < 2; i++) {
        struct node *node = malloc(sizeof *node);
        node->next = top;
        top = node;
    }
    pthread_create(&a, NULL, pop, NULL);
    pthread_create(&b, NULL, pop, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
