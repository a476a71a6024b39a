// expect: bug memory
// line: 14
// message: after its function
// The call to come back to has returned.
#include <setjmp.h>

static jmp_buf place;

static int remember(void) { return setjmp(place); }

int main(void) {
    if (remember())
        return 0;
    longjmp(place, 1);
}
