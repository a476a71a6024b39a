// expect: ok
// The printf family.
#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static char buffer[128];

#define PRINTS(expected, ...)                                                                                          \
    do {                                                                                                               \
        int length = snprintf(buffer, sizeof buffer, __VA_ARGS__);                                                     \
        assert(length == (int)strlen(expected));                                                                       \
        assert(strcmp(buffer, expected) == 0);                                                                         \
    } while (0)

int main(void) {
    PRINTS("plain 100%", "plain 100%%");
    PRINTS("-7 7 +7  7", "%d %i %+d % d", -7, 7, 7, 7);
    PRINTS("   42|42   |00042|  042", "%5d|%-5d|%05d|%5.3d", 42, 42, 42, 42);
    PRINTS("  -42|-0042| -042", "%5d|%05d|%5.3d", -42, -42, -42);
    PRINTS("4294967295 ff FF 0xff 17 017", "%u %x %X %#x %o %#o", UINT_MAX, 255, 255, 255, 15, 15);
    PRINTS("-2147483648 -9223372036854775808 18446744073709551615", "%d %ld %llu", INT_MIN, LONG_MIN, ULLONG_MAX);
    PRINTS("-1 255 -1 65535", "%hhd %hhu %hd %hu", 255, -1, 65535, -1);
    PRINTS("12 -5 3", "%zu %jd %td", (size_t)12, (intmax_t)-5, (ptrdiff_t)3);
    PRINTS("x|  y|z  |", "%c|%3c|%-3c|", 'x', 'y', 'z');
    PRINTS("abc|  abc|abc  |ab", "%s|%5s|%-5s|%.2s", "abc", "abc", "abc", "abc");
    PRINTS("    7|   7|7    |ab", "%*d|%*d|%*d|%.*s", 5, 7, 4, 7, -5, 7, 2, "abc");
    PRINTS("(nil)", "%p", (void *)0);
    PRINTS("0||0|", "%d|%.0d|%o|%.0x", 0, 0, 0, 0);
    PRINTS("3.140000 3.1 3 -0.50", "%f %.1f %.0f %.2f", 3.14, 3.14, 3.14, -0.5);
    PRINTS("2 4 0.1 1e+10 1e-05 0.0001", "%.0f %.0f %g %g %g %g", 2.5, 3.5, 0.1, 1e10, 1e-5, 1e-4);
    PRINTS("1.500000e+00 1.5E-10 100000 1e+06", "%e %.1E %g %g", 1.5, 1.5e-10, 1e5, 1e6);
    PRINTS("inf -INF nan    inf", "%f %F %f %6f", 1e308 * 10, -1e308 * 10, __builtin_nan(""), 1e308 * 10);
    PRINTS("0.1000000000000000055511151231257827", "%.34f", 0.1);
    PRINTS("9007199254740992 1e+100", "%.0f %g", 9007199254740992.0, 1e100);
    int count;
    assert(snprintf(buffer, 4, "%d%n", 123456, &count) == 6 && count == 6 && strcmp(buffer, "123") == 0);
    assert(snprintf(NULL, 0, "%s", "seven..") == 7);
    assert(sprintf(buffer, "%s-%d", "a", 1) == 3 && strcmp(buffer, "a-1") == 0);
    assert(printf("to %s\n", "stdout") == 10 && fprintf(stderr, "to %s\n", "stderr") == 10);
    puts("a line");
    putchar('c');
    fputc('c', stdout);
    putc('\n', stdout);
    fputs("more\n", stdout);
    assert(fwrite("bytes\n", 1, 6, stdout) == 6);
    fflush(stdout);
    return 0;
}
