// expect: bug memory
// line: 10
// message: memory leak
// check: --leaks
#include <stdlib.h>

static int *kept;

int main(void) {
    int *lost = malloc(4 * sizeof *lost);
    kept = malloc(sizeof *kept);
    lost[0] = 1;
    *kept = lost[0];
    return 0;
}
