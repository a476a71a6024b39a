/* Values that may be anything of their type. A search that tries values one by one has too many of them to try, so these
 * are there only for those who can do without: the abstract engine, and replays of what it finds.
 *
 * A choice has at most 65536 values; larger types take several, in one step. */
#include <stdint.h>

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
