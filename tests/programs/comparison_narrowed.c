// expect: bug assertion
// line: 11
// Only the sign of what memcmp returns is known, and a char may turn it round.
#include <assert.h>
#include <string.h>

static const char *one = "b", *other = "a";

int main(void) {
    char order = (char)memcmp(one, other, 1);
    assert(order > 0);
    return 0;
}
