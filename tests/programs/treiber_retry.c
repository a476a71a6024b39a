// expect: ok
// traces: 21
// A push that fails has prepared its node in vain, and prepares it again: waiting, for nobody else can reach the node.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct node {
    struct node *next;
    int value;
} node;

static _Atomic(node *) top;

static void *push(void *value) {
    node *new = malloc(sizeof *new);
    new->value = (int)(long)value;
    node *old = atomic_load(&top);
    do
        new->next = old;
    while (!atomic_compare_exchange_weak(&top, &old, new));
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, push, (void *)i);
    int sum = 0, number = 0;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (node *each = top; each; each = each->next, number++)
        sum += each->value;
    assert(number == 3 && sum == 3);
    return 0;
}
