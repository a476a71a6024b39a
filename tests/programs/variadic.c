// expect: ok
// Functions with a variable number of arguments, of all kinds, through pointers and lists.
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static double total(const char *kinds, ...) {
    va_list arguments;
    double sum = 0;
    va_start(arguments, kinds);
    for (; *kinds; kinds++)
        switch (*kinds) {
        case 'i':
            sum += va_arg(arguments, int);
            break;
        case 'l':
            sum += (double)va_arg(arguments, long);
            break;
        case 'd':
            sum += va_arg(arguments, double);
            break;
        case 's':
            sum += (double)strlen(va_arg(arguments, const char *));
            break;
        }
    va_end(arguments);
    return sum;
}

static int largest(int count, va_list arguments) {
    va_list again;
    int best = -1000, first;
    va_copy(again, arguments);
    first = va_arg(again, int);
    va_end(again);
    while (count-- > 0) {
        int value = va_arg(arguments, int);
        best = value > best ? value : best;
    }
    return best * 100 + first;
}

static int most(int count, ...) {
    va_list arguments;
    va_start(arguments, count);
    int result = largest(count, arguments);
    va_end(arguments);
    return result;
}

int main(void) {
    char c = 2;
    float f = 0.5f;
    assert(total("") == 0);
    assert(total("iidsl", 1, c, f, "four", -3L) == 4.5);
    assert(total("iiiiiiiiidddddddddd", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.) == 19);
    int (*pointer)(int, ...) = most;
    assert(pointer(4, 3, 9, -2, 5) == 903);
    return 0;
}
