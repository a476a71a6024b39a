// expect: bug memory
// line: 9
// message: never written
#include <stdlib.h>

int main(void) {
    int *flags = malloc(2 * sizeof *flags);
    flags[0] = 1;
    if (flags[0] & flags[1])
        return 1;
    return 0;
}
