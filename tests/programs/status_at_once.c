// expect: bug exit
// line: 14
// message: exit status 1: _Exit(1)
#include <stdlib.h>
#include <unistd.h>

static void handler(void) { _exit(2); }

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1)
        quick_exit(4);
    atexit(handler);
    _Exit(1);
}
