/* Inputs without bounds, where an option says between which they are: all of these numbers that the type has. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "waiting.h"

extern const long __mazurka_nondet_low, __mazurka_nondet_high;

INLINE long between(long least, long largest) {
    long low = __mazurka_nondet_low > least ? __mazurka_nondet_low : least;
    long high = __mazurka_nondet_high < largest ? __mazurka_nondet_high : largest;
    __mazurka_assume(low <= high);
    return low + (long)__mazurka_choose((unsigned)(high - low) + 1);
}

#define INPUT(type, name, least, largest)                                                                              \
    type __VERIFIER_nondet_##name(void) { return (type)between(least, largest); }

INPUT(char, char, CHAR_MIN, CHAR_MAX)
INPUT(signed char, schar, SCHAR_MIN, SCHAR_MAX)
INPUT(unsigned char, uchar, 0, UCHAR_MAX)
INPUT(short, short, SHRT_MIN, SHRT_MAX)
INPUT(unsigned short, ushort, 0, USHRT_MAX)
INPUT(int, int, INT_MIN, INT_MAX)
INPUT(unsigned, uint, 0, UINT_MAX)
INPUT(unsigned, unsigned, 0, UINT_MAX)
INPUT(unsigned, unsigned_int, 0, UINT_MAX)
INPUT(long, long, LONG_MIN, LONG_MAX)
INPUT(unsigned long, ulong, 0, LONG_MAX)
INPUT(long long, longlong, LONG_MIN, LONG_MAX)
INPUT(unsigned long long, ulonglong, 0, LONG_MAX)
INPUT(size_t, size_t, 0, LONG_MAX)
INPUT(int8_t, S8, INT8_MIN, INT8_MAX)
INPUT(uint8_t, U8, 0, UINT8_MAX)
INPUT(int16_t, S16, INT16_MIN, INT16_MAX)
INPUT(uint16_t, U16, 0, UINT16_MAX)
INPUT(int32_t, S32, INT32_MIN, INT32_MAX)
INPUT(uint32_t, U32, 0, UINT32_MAX)

/* Random numbers do not follow from their seed. */
int rand(void) { return (int)between(0, RAND_MAX); }
long random(void) { return between(0, RAND_MAX); }
long lrand48(void) { return between(0, INT_MAX); }
long mrand48(void) { return between(INT_MIN, INT_MAX); }
int rand_r(unsigned *seed) {
    *seed = *seed * 1103515245u + 12345u;
    return (int)between(0, RAND_MAX);
}
void srand(unsigned seed) { (void)seed; }
void srandom(unsigned seed) { (void)seed; }
void srand48(long seed) { (void)seed; }
