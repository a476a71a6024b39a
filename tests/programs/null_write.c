// expect: bug memory
// line: 9
// message: null
#include <stddef.h>

static int *volatile target = NULL;

int main(void) {
    *target = 3;
    return 0;
}
