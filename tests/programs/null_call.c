// expect: bug memory
// line: 9
// message: call of a null function pointer
#include <stddef.h>

static void (*volatile handler)(void) = NULL;

int main(void) {
    handler();
    return 0;
}
