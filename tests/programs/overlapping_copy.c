// expect: bug memory
// line: 9
// message: overlapping
#include <stdlib.h>
#include <string.h>

int main(void) {
    char *block = calloc(200, 1);
    memcpy(block + 8, block, 100);
    return 0;
}
