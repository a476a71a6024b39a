// expect: ok
// traces: 1
// Where only the sign matters, nothing has to be tried: in variables, through functions, in a comparison of qsort.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *words[] = {"pear", "fig", "apple"};

static int by_name(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static int compare(const char *left, const char *right, int *how) {
    int order = strncmp(left, right, 3);
    *how = order < 0 ? 1 : order == 0 ? 2 : 3;
    return order ? order : memcmp(left, right, 3);
}

int main(void) {
    int how;
    qsort(words, 3, sizeof *words, by_name);
    assert(strcmp(words[0], "apple") == 0 && !strcmp(words[2], "pear"));
    assert(compare("abc", "abd", &how) < 0 && how == 1);
    assert(compare("abc", "abc", &how) == 0 && how == 2);
    long wide = compare("b", "a", &how);
    assert(wide > 0 && how == 3);
    return 0;
}
