// expect: bug memory
// line: 12
// message: use after free
// check: --reuse-addresses
#include <stdlib.h>

int main(void) {
    int *block = malloc(16), *other = malloc(8);
    free(block);
    free(other);
    int *again = malloc(8);
    block[1] = 3;
    free(again);
    return 0;
}
