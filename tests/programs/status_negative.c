// expect: bug exit
// line: 9
// message: exit status 255: main returns -1
#include <stdlib.h>

static void handler(void) {}

int main(void) {
    return atexit(handler) - 1;
}
