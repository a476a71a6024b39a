// expect: bug memory
// line: 14
// message: null pointer
// check: --failing-malloc
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

int main(void) {
    struct node *node = malloc(sizeof *node);
    node->value = 1;
    free(node);
    return 0;
}
