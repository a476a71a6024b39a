// expect: bug memory
// line: 15
// The reader is in trouble only if the owner replaces and frees the node between its two steps.
#include <pthread.h>
#include <stdlib.h>

struct node {
    int value;
};
static struct node *current;

static void *reader(void *unused) {
    struct node *node = current;
    if (node != NULL)
        (void)*(volatile int *)&node->value;
    return unused;
}

static void *owner(void *unused) {
    struct node *node = current;
    current = NULL;
    free(node);
    return unused;
}

int main(void) {
    pthread_t a, b;
    current = malloc(sizeof *current);
    current->value = 7;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, owner, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
