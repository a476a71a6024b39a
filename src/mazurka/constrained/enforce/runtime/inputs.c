/* What programs ask for that are written to be checked: values that can be anything, and assumptions. A program can bring
 * its own. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EXIT_ASSUMPTION = 71 };

#define WEAK __attribute__((weak))

/* xorshift64*, from a state that differs from thread to thread; the same in each run. */
static uint64_t any(void) {
    static _Atomic uint64_t threads;
    static _Thread_local uint64_t state;
    if (state == 0)
        state = ++threads * 0x9e3779b97f4a7c15u;
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1du;
}

#define ANY(name, type) \
    WEAK type __VERIFIER_nondet_##name(void) { return (type)(any() >> 32 ^ any()); }

ANY(char, char)
ANY(schar, signed char)
ANY(uchar, unsigned char)
ANY(short, short)
ANY(ushort, unsigned short)
ANY(int, int)
ANY(uint, unsigned)
ANY(unsigned, unsigned)
ANY(long, long)
ANY(ulong, unsigned long)
ANY(longlong, long long)
ANY(ulonglong, unsigned long long)
ANY(size_t, size_t)
ANY(u8, uint8_t)
ANY(u16, uint16_t)
ANY(u32, uint32_t)

WEAK bool __VERIFIER_nondet_bool(void) { return any() >> 63; }

WEAK void __VERIFIER_assume(int condition);

WEAK int __VERIFIER_nondet_range(int low, int high) {
    __VERIFIER_assume(low <= high);
    uint64_t count = (uint64_t)((int64_t)high - low) + 1;
    return (int)(low + (int64_t)(any() % count));
}

WEAK void __VERIFIER_assume(int condition) {
    if (condition)
        return;
    fflush(stdout);
    fprintf(stderr, "mazurka: an assumption of the program does not hold\n");
    _exit(EXIT_ASSUMPTION);
}

WEAK void reach_error(void) {
    fprintf(stderr, "reach_error was called\n");
    abort();
}

WEAK void __VERIFIER_error(void) {
    fprintf(stderr, "__VERIFIER_error was called\n");
    abort();
}
