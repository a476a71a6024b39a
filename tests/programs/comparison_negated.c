// expect: bug arithmetic
// line: 12
// The least number cannot be negated.
#include <stdlib.h>
#include <string.h>

static const char *words[] = {"a", "b"};

static int descending(const void *left, const void *right) {
    const char *const *a = left;
    const char *const *b = right;
    return -strcmp(*a, *b);
}

int main(void) {
    qsort(words, 2, sizeof *words, descending);
    return 0;
}
