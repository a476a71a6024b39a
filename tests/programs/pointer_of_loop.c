// expect: bug assertion
// line: 22
// The pointer of a loop is computed from itself, which is no reason to look for its type for ever.
#include <assert.h>
#include <stdlib.h>
int main(void) {
    int *a = malloc(4 * sizeof *a), *p, i;
    goto start;
body:
    *p = i;
    p = p + 1;
    i = i + 1;
check:
    if (i < 4)
        goto body;
    goto end;
start:
    p = a;
    i = 0;
    goto check;
end:
    assert(a[0] == 4);
}
