// expect: bug assertion
// line: 10
// Through a pointer as well: 1 is only one of the numbers that strcmp may return.
#include <assert.h>
#include <string.h>

int main(void) {
    int (*compare)(const char *, const char *) = strcmp;
    int order = compare("b", "a");
    assert(order == 1 || order == 0);
    return 0;
}
