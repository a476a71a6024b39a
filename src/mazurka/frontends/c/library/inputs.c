/* Values that come from outside: they may be anything of their type, or that the function can return. A search that tries
 * values one by one has too many of them to try, so these are there only for those who can do without: the abstract engine,
 * and replays of what it finds.
 *
 * Nothing is said about several calls: random numbers do not follow from their seed, clocks go forwards and backwards, and
 * there may be input after its end. What holds for all of these holds for those that a system gives.
 *
 * A choice has at most 65536 values; larger types take several, in one step. What a function writes for its caller belongs to
 * that step. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#include "waiting.h"

INLINE uint32_t pieces(unsigned count) {
    __mazurka_atomic_begin();
    uint32_t value = __mazurka_choose(1u << 16);
    if (count > 1)
        value = value << 16 | __mazurka_choose(1u << 16);
    __mazurka_atomic_end();
    return value;
}

INLINE uint64_t long_pieces(void) {
    __mazurka_atomic_begin();
    uint64_t high = pieces(2), low = pieces(2);
    __mazurka_atomic_end();
    return high << 32 | low;
}

char __VERIFIER_nondet_char(void) { return (char)__mazurka_choose(1u << 8); }
unsigned char __VERIFIER_nondet_uchar(void) { return (unsigned char)__mazurka_choose(1u << 8); }
short __VERIFIER_nondet_short(void) { return (short)pieces(1); }
unsigned short __VERIFIER_nondet_ushort(void) { return (unsigned short)pieces(1); }
int __VERIFIER_nondet_int(void) { return (int)pieces(2); }
unsigned __VERIFIER_nondet_uint(void) { return pieces(2); }
unsigned __VERIFIER_nondet_unsigned(void) { return pieces(2); }
unsigned __VERIFIER_nondet_unsigned_int(void) { return pieces(2); }
long __VERIFIER_nondet_long(void) { return (long)long_pieces(); }
unsigned long __VERIFIER_nondet_ulong(void) { return long_pieces(); }
long long __VERIFIER_nondet_longlong(void) { return (long long)long_pieces(); }
unsigned long long __VERIFIER_nondet_ulonglong(void) { return long_pieces(); }
size_t __VERIFIER_nondet_size_t(void) { return long_pieces(); }
int8_t __VERIFIER_nondet_S8(void) { return (int8_t)__mazurka_choose(1u << 8); }
uint8_t __VERIFIER_nondet_U8(void) { return (uint8_t)__mazurka_choose(1u << 8); }
int16_t __VERIFIER_nondet_S16(void) { return (int16_t)pieces(1); }
uint16_t __VERIFIER_nondet_U16(void) { return (uint16_t)pieces(1); }
int32_t __VERIFIER_nondet_S32(void) { return (int32_t)pieces(2); }
uint32_t __VERIFIER_nondet_U32(void) { return pieces(2); }

/* ----------------------------------------------------------------------------------------- random numbers */

/* From 0 to RAND_MAX, which is 2^31 - 1. */
INLINE int any_random(void) {
    __mazurka_atomic_begin();
    unsigned high = __mazurka_choose(1u << 15);
    int value = (int)(high << 16 | __mazurka_choose(1u << 16));
    __mazurka_atomic_end();
    return value;
}

int rand(void) { return any_random(); }
long random(void) { return any_random(); }
long lrand48(void) { return any_random(); }
long mrand48(void) { return (int)pieces(2); }

int rand_r(unsigned *seed) {
    __mazurka_atomic_begin();
    *seed = pieces(2);
    int value = any_random();
    __mazurka_atomic_end();
    return value;
}

void srand(unsigned seed) { (void)seed; }
void srandom(unsigned seed) { (void)seed; }
void srand48(long seed) { (void)seed; }

/* ------------------------------------------------------------------------------------------------- clocks */

/* Fewer than 2^40 seconds, which are 34,000 years. */
INLINE time_t any_seconds(void) {
    __mazurka_atomic_begin();
    uint64_t high = __mazurka_choose(1u << 8);
    time_t value = (time_t)(high << 32 | pieces(2));
    __mazurka_atomic_end();
    return value;
}

/* Below a million. */
INLINE long any_millionth(void) {
    __mazurka_atomic_begin();
    long thousands = (long)__mazurka_choose(1000);
    long value = thousands * 1000 + (long)__mazurka_choose(1000);
    __mazurka_atomic_end();
    return value;
}

time_t time(time_t *result) {
    __mazurka_atomic_begin();
    time_t value = any_seconds();
    if (result)
        *result = value;
    __mazurka_atomic_end();
    return value;
}

clock_t clock(void) { return any_seconds(); }

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    __mazurka_atomic_begin();
    now->tv_sec = any_seconds();
    now->tv_usec = any_millionth();
    __mazurka_atomic_end();
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    (void)clock;
    __mazurka_atomic_begin();
    now->tv_sec = any_seconds();
    now->tv_nsec = any_millionth() * 1000 + (long)__mazurka_choose(1000);
    __mazurka_atomic_end();
    return 0;
}

void __mazurka_pass_time(const struct timespec *until) { (void)until; }

/* ------------------------------------------------------------------------------------------ standard input */

extern FILE *const standard_input __asm__("stdin");

int getchar(void) { return (int)__mazurka_choose(257) - 1; }

int fgetc(FILE *stream) {
    if (stream != standard_input)
        __mazurka_fail("memory", "reading from something that is not stdin");
    return getchar();
}

int getc(FILE *stream) { return fgetc(stream); }
