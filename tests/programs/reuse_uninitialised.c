// expect: bug memory
// line: 13
// message: never written
// check: --reuse-addresses
#include <stdlib.h>

int main(void) {
    int *block = malloc(16);
    block[0] = 1;
    free(block);
    int *again = malloc(16);
    again[1] = 0;
    if (again[again == block ? 0 : 1])
        return 0;
    free(again);
    return 0;
}
