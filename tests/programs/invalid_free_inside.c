// expect: bug memory
// line: 7
#include <stdlib.h>

int main(void) {
    char *block = malloc(8);
    free(block + 1);
    return 0;
}
