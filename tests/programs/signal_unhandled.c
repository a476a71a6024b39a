// expect: bug abort
// line: 7
// message: nobody handles
#include <signal.h>

int main(void) {
    raise(SIGTERM);
    return 0;
}
