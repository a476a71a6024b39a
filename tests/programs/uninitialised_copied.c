// expect: ok
// Copying what was never written is harmless, as padding is; so is computing with it what nobody looks at.
#include <stdlib.h>
#include <string.h>

struct padded {
    char c;
    int i;
    char d;
};

static struct padded copy(struct padded value) { return value; }

int main(void) {
    struct padded first, second;
    int *heap = malloc(4 * sizeof *heap);
    int copied[4];
    first.c = 1;
    first.i = 2;
    second = copy(first);
    memcpy(copied, heap, sizeof copied);
    copied[0] += copied[1];
    free(heap);
    return second.i - 2;
}
