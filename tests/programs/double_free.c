// expect: bug memory
// line: 9
// message: double free
#include <stdlib.h>

int main(void) {
    char *block = malloc(8);
    free(block);
    free(block);
    return 0;
}
