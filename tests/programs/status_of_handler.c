// expect: bug exit
// line: 7
// message: exit status 2: _exit(2)
// What a handler says is what counts.
#include <stdlib.h>
#include <unistd.h>
static void handler(void) { _exit(2); }

int main(void) {
    atexit(handler);
    return 0;
}
