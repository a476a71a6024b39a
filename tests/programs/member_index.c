// expect: bug memory
// line: 15
// message: index 4
#include <stdlib.h>

struct queue {
    int slots[4];
    int head, tail;
};

static struct queue *queue;

static void put(int value) {
    int at = queue->tail++;
    queue->slots[at] = value;
}

int main(void) {
    queue = calloc(1, sizeof *queue);
    for (int i = 0; i < 5; i++)
        put(i);
    return 0;
}
