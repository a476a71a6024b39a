// expect: ok
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int comparisons;

static int by_value(const void *left, const void *right) {
    int a = *(const int *)left, b = *(const int *)right;
    comparisons++;
    return (a > b) - (a < b);
}

struct entry {
    const char *name;
    int rank;
};

static int by_name(const void *left, const void *right) {
    return strcmp(((const struct entry *)left)->name, ((const struct entry *)right)->name);
}

int main(void) {
    int numbers[] = {5, -1, 9, 3, 3, 0, 7};
    int sorted[] = {-1, 0, 3, 3, 5, 7, 9};
    qsort(numbers, 7, sizeof(int), by_value);
    assert(memcmp(numbers, sorted, sizeof sorted) == 0 && comparisons > 0);
    int key = 7, missing = 4;
    assert(bsearch(&key, numbers, 7, sizeof(int), by_value) == &numbers[5]);
    assert(bsearch(&missing, numbers, 7, sizeof(int), by_value) == NULL);
    struct entry entries[] = {{"pear", 1}, {"apple", 2}, {"fig", 3}};
    qsort(entries, 3, sizeof entries[0], by_name);
    assert(entries[0].rank == 2 && entries[1].rank == 3 && entries[2].rank == 1);

    char *end;
    assert(atoi("42") == 42 && atoi("  -17abc") == -17 && atol("123456789012") == 123456789012 && atoi("x") == 0);
    assert(strtol("0x1fz", &end, 0) == 31 && *end == 'z' && strtol("777", NULL, 8) == 511);
    assert(strtol("zz", &end, 36) == 1295 && *end == 0 && strtoul("-1", NULL, 10) == ULONG_MAX);
    errno = 0;
    assert(strtol("9223372036854775808", NULL, 10) == LONG_MAX && errno == ERANGE);
    const char *none = "none";
    assert(strtol(none, &end, 10) == 0 && end == none);
    assert(abs(-3) == 3 && labs(-3000000000) == 3000000000 && div(17, 5).rem == 2 && ldiv(-17, 5).quot == -3);

    int alphas = 0, digits = 0, spaces = 0, puncts = 0, uppers = 0, xdigits = 0, prints = 0;
    for (int c = 0; c < 256; c++) {
        alphas += isalpha(c) != 0;
        digits += isdigit(c) != 0;
        spaces += isspace(c) != 0;
        puncts += ispunct(c) != 0;
        uppers += (isupper)(c) != 0;
        xdigits += isxdigit(c) != 0;
        prints += isprint(c) != 0;
        assert((isalnum(c) != 0) == (isalpha(c) || isdigit(c)));
        assert((isgraph(c) != 0) == (isprint(c) && c != ' '));
    }
    assert(alphas == 52 && digits == 10 && spaces == 6 && puncts == 32 && uppers == 26 && xdigits == 22);
    assert(prints == 95);
    assert(toupper('q') == 'Q' && tolower('Q') == 'q' && toupper('1') == '1' && iscntrl('\n') && isblank('\t'));
    assert(getenv("MAZURKA_NO_SUCH_VARIABLE") == NULL);
    return 0;
}
