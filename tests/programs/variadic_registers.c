// expect: ok
// Variadic arguments of all kinds, more than there are registers, and structures of unusual alignment.
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct pair {
    double x;
    int y;
};
struct aligned {
    char letters[3];
} __attribute__((aligned(16)));
struct large {
    long numbers[6];
} __attribute__((aligned(16)));

static double sum(const char *kinds, ...) {
    double total = 0;
    va_list arguments;
    va_start(arguments, kinds);
    for (; *kinds; kinds++)
        switch (*kinds) {
        case 'i':
            total += va_arg(arguments, int);
            break;
        case 'd':
            total += va_arg(arguments, double);
            break;
        case 'p': {
            struct pair pair = va_arg(arguments, struct pair);
            total += pair.x + pair.y;
            break;
        }
        case 'a': {
            struct aligned aligned = va_arg(arguments, struct aligned);
            total += aligned.letters[2];
            break;
        }
        case 'l': {
            struct large large = va_arg(arguments, struct large);
            total += (double)large.numbers[5];
            break;
        }
        }
    va_end(arguments);
    return total;
}

static int format(char *to, const char *text, ...) {
    va_list arguments, again;
    va_start(arguments, text);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, text, again);
    assert(vsprintf(to, text, arguments) == length);
    va_end(again);
    va_end(arguments);
    return length;
}

int main(void) {
    struct pair pair = {0.5, 7};
    struct aligned aligned = {{1, 2, 100}};
    struct large large = {{0, 0, 0, 0, 0, 1000}};
    assert(sum("") == 0);
    assert(sum("ia", 1, aligned) == 101);
    assert(sum("aiaia", aligned, 1, aligned, 2, aligned) == 303);
    assert(sum("ilil", 1, large, 2, large) == 2003);
    assert(sum("iiiiiii", 1, 2, 3, 4, 5, 6, 7) == 28);
    assert(sum("ddddddddddd", 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11.) == 66);
    assert(sum("pippipdia", pair, 1, pair, pair, 2, pair, 3.0, 4, aligned) == 140);
    char text[80];
    assert(format(text, "%d %s %a %g %.2a", 5, "five", 0.75, 2.5, -1.5) == 30);
    assert(strcmp(text, "5 five 0x1.8p-1 2.5 -0x1.80p+0") == 0);
    return 0;
}
