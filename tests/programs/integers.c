// expect: ok
// Widths, signs, conversions, shifts, wrap-around.
#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

static int8_t narrow(int value) { return (int8_t)value; }
static uint64_t wide(int32_t value) { return (uint64_t)value; }

int main(void) {
    volatile unsigned char c = 250;
    c += 10;
    assert(c == 4);
    volatile signed char s = (signed char)200;
    assert(s == -56 && s / 10 == -5 && s % 10 == -6);
    assert(narrow(0x1ff) == -1 && wide(-1) == UINT64_MAX);
    volatile unsigned u = 0;
    u--;
    assert(u == UINT_MAX && (int)u == -1 && u / 2 == INT_MAX);
    volatile int i = -16;
    assert(i >> 2 == -4 && (unsigned)i >> 28 == 15 && (i & 0xff) == 0xf0 && ~i == 15 && -i == 16);
    assert((i ^ 3) == -13 && (i | 5) == -11);
    volatile int64_t big = INT64_C(1) << 40;
    assert(big == 1099511627776 && big * 3 / 7 == 471219269046 && (int)big == 0);
    volatile uint16_t h = 0xffff;
    assert((unsigned)h * h == 0xfffe0001u && (uint16_t)(h + 1) == 0);
    volatile bool b = 7;
    assert(b == 1 && !b == 0 && b + b == 2);
    assert((bool)0x100 == true && sizeof(long) == 8 && (char)-1 < 0);
    volatile int zero = 0, calls = 0;
    assert(!(zero && ++calls) && (1 || ++calls) && calls == 0);
    assert((zero ? 1 : 2) == 2 && (calls++, calls) == 1);
    volatile unsigned long long m = ULLONG_MAX;
    assert(m % 1000 == 615 && m * m == 1 && m > 5 && (long long)m < 5);
    assert(-7 / 2 == -3 && -7 % 2 == -1 && 7u / 2u == 3);
    return 0;
}
