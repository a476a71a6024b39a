// expect: bug memory
// line: 13
// message: and 2 more blocks
// check: --leaks
// Of a list that is lost, the first node is told.
#include <stdlib.h>

struct node {
    struct node *next;
};

static struct node *push(struct node *rest) {
    struct node *node = malloc(sizeof *node);
    node->next = rest;
    return node;
}

int main(void) {
    struct node *list = NULL;
    for (int i = 0; i < 3; i++)
        list = push(list);
    exit(0);
}
