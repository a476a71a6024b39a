// expect: ok
// A binary tree and a list on the heap, built, walked and freed.
#include <assert.h>
#include <stdlib.h>

struct tree {
    struct tree *left, *right;
    int key;
};

static void insert(struct tree **at, int key) {
    while (*at)
        at = key < (*at)->key ? &(*at)->left : &(*at)->right;
    *at = calloc(1, sizeof **at);
    (*at)->key = key;
}

struct list {
    struct list *next;
    int key;
};

static struct list *flatten(struct tree *tree, struct list *rest) {
    if (tree == NULL)
        return rest;
    struct list *node = malloc(sizeof *node);
    node->key = tree->key;
    node->next = flatten(tree->right, rest);
    struct list *all = flatten(tree->left, node);
    free(tree);
    return all;
}

int main(void) {
    const int keys[] = {5, 2, 8, 1, 9, 3};
    struct tree *tree = NULL;
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
        insert(&tree, keys[i]);
    int previous = 0, count = 0;
    for (struct list *node = flatten(tree, NULL), *next; node; node = next) {
        assert(node->key > previous);
        previous = node->key;
        count++;
        next = node->next;
        free(node);
    }
    assert(count == 6);
    return 0;
}
