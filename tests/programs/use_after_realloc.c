// expect: bug memory
// line: 10
// message: free
#include <stdlib.h>

int main(void) {
    int *old = calloc(1, sizeof *old);
    int *bigger = realloc(old, 8 * sizeof *old);
    bigger[7] = 1;
    return *old;
}
