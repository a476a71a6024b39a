// expect: ok
// traces: 1
// An interpreter that jumps from one operation to the next.
#include <assert.h>

enum { ADD, DOUBLE, STOP };

static int interpret(const unsigned char *code) {
    static void *const operations[] = {&&add, &&twice, &&stop};
    static const int distances[] = {&&add - &&add, &&twice - &&add, &&stop - &&add};
    int value = 1;
    goto *operations[*code++];
add:
    value += 3;
    goto *operations[*code++];
twice:
    value *= 2;
    goto *(&&add + distances[*code++]);
stop:
    return value;
}

int main(void) {
    assert(interpret((const unsigned char[]){ADD, DOUBLE, ADD, DOUBLE, STOP}) == 22);
    return 0;
}
