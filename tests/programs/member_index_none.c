// expect: ok
// Arrays at the end of a structure may be longer, the end of an array may be pointed to, and a pointer may go anywhere in
// its object.
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

struct message {
    int length;
    char text[1];
};
struct flexible {
    int length;
    int numbers[];
};
struct __attribute__((aligned(16))) padded {
    int length;
    char text[1];
};
struct pool {
    struct item {
        int id;
        struct item *next;
    } items[3];
    int used, grid[2][2];
    char name[4];
};

static struct pool pool;

static int sum(const int *begin, const int *end) {
    int total = 0;
    for (const int *at = begin; at != end; at++)
        total += *at;
    return total;
}

int main(void) {
    volatile int n = 5;
    struct message *message = calloc(1, sizeof *message + 8);
    struct padded *padded = calloc(1, sizeof *padded + 8);
    message->text[n] = padded->text[n] = 'x';
    struct flexible *flexible = calloc(1, sizeof *flexible + 6 * sizeof(int));
    flexible->numbers[n] = 1;
    for (struct item *item = pool.items; item < &pool.items[3]; item++)
        item->id = 1;
    n = 3;
    struct item *end = &pool.items[n];
    assert(end - pool.items == 3);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            pool.grid[i][j] = 1;
    assert(sum(&pool.grid[0][0], &pool.grid[1][2]) == 4);
    struct item *second = &pool.items[n - 2];
    second->next = &pool.items[0];
    struct pool *around = (struct pool *)((char *)second - offsetof(struct pool, items[1]));
    assert(around == &pool);
    int *flat = &pool.used;
    flat[n] = 2;
    pool.name[n] = 'y';
    free(message);
    free(padded);
    free(flexible);
    return 0;
}
