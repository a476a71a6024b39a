// expect: bug memory
// line: 13
// message: null
struct node {
    struct node *next;
    int value;
};

int main(void) {
    struct node last = {0, 1};
    struct node *node = &last;
    node = node->next;
    return node->value;
}
