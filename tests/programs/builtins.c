// expect: ok
// Functions that the compiler knows by itself.
#include <assert.h>
#include <limits.h>
#include <stdint.h>

int main(void) {
    volatile unsigned x = 0x00f01000;
    volatile uint64_t y = 0x0102030405060708;
    volatile int n = INT_MAX;
    int result;
    unsigned size;
    assert(__builtin_clz(x) == 8 && __builtin_ctz(x) == 12 && __builtin_popcount(x) == 5);
    assert(__builtin_ffs((int)x) == 13);
    assert(__builtin_clzll(y) == 7 && __builtin_ctzll(y) == 3 && __builtin_parity(x) == 1);
    assert(__builtin_bswap64(y) == 0x0807060504030201 && __builtin_bswap16(0x1234) == 0x3412);
    assert(__builtin_bswap32(x) == 0x0010f000);
    assert(__builtin_add_overflow(n, 1, &result) && result == INT_MIN);
    assert(!__builtin_sub_overflow(n, 1, &result) && result == INT_MAX - 1);
    assert(__builtin_mul_overflow(n, 2, &result) && !__builtin_mul_overflow(3u, x, &size) && size == 3 * x);
    assert(__builtin_expect(n > 0, 1) && __builtin_constant_p(3) && __builtin_offsetof(struct { int a, b; }, b) == 4);
    assert((x << 4 | x >> 28) == 0x0f010000);
    if (n < 0)
        __builtin_unreachable();
    return 0;
}
