// expect: bug memory
// line: 9
// message: null
#include <stddef.h>

static void (*volatile handler)(void) = NULL;

int main(void) {
    handler();
    return 0;
}
