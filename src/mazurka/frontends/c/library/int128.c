/* Arithmetic of 128 bits, in words of 64: the front end calls it (translate/wide.py). The result comes first. */
#include <stdint.h>

#include "waiting.h"

struct wide {
    uint64_t low, high;
};

INLINE struct wide make(uint64_t low, uint64_t high) {
    struct wide result = {low, high};
    return result;
}

INLINE struct wide plus(struct wide a, struct wide b) {
    uint64_t low = a.low + b.low;
    return make(low, a.high + b.high + (low < a.low));
}

INLINE struct wide minus(struct wide a, struct wide b) {
    return make(a.low - b.low, a.high - b.high - (a.low < b.low));
}

INLINE struct wide negated(struct wide a) { return minus(make(0, 0), a); }

INLINE _Bool is_negative(struct wide a) { return a.high >> 63; }

INLINE struct wide magnitude(struct wide a) { return is_negative(a) ? negated(a) : a; }

INLINE _Bool below(struct wide a, struct wide b) { return a.high < b.high || (a.high == b.high && a.low < b.low); }

/* The whole product of two words. */
INLINE struct wide product(uint64_t a, uint64_t b) {
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    uint64_t other = a0 * b1 + (uint32_t)middle;
    return make(a * b, a1 * b1 + (middle >> 32) + (other >> 32));
}

INLINE struct wide times(struct wide a, struct wide b) {
    struct wide result = product(a.low, b.low);
    result.high += a.low * b.high + a.high * b.low;
    return result;
}

INLINE struct wide left(struct wide a, unsigned by) {
    if (by == 0)
        return a;
    return by < 64 ? make(a.low << by, a.high << by | a.low >> (64 - by)) : make(0, a.low << (by - 64));
}

INLINE struct wide right(struct wide a, unsigned by) {
    if (by == 0)
        return a;
    return by < 64 ? make(a.low >> by | a.high << (64 - by), a.high >> by) : make(a.high >> (by - 64), 0);
}

static unsigned length(struct wide a) {
    if (a.high)
        return 128 - (unsigned)__builtin_clzll(a.high);
    return a.low ? 64 - (unsigned)__builtin_clzll(a.low) : 0;
}

/* Bit by bit, from where the two are of the same length. */
static struct wide divide(struct wide a, struct wide b, struct wide *rest) {
    struct wide quotient = make(0, 0);
    if (b.low == 0 && b.high == 0)
        __mazurka_fail("arithmetic", "division by zero");
    if (a.high == 0 && b.high == 0) {
        *rest = make(a.low % b.low, 0);
        return make(a.low / b.low, 0);
    }
    if (!below(a, b)) {
        unsigned shift = length(a) - length(b);
        b = left(b, shift);
        for (unsigned i = 0; i <= shift; i++, b = right(b, 1)) {
            quotient = left(quotient, 1);
            if (!below(a, b)) {
                a = minus(a, b);
                quotient.low |= 1;
            }
        }
    }
    *rest = a;
    return quotient;
}

#define OPERATION(name)                                                                                                \
    void __mazurka_##name##128(struct wide * result, uint64_t a0, uint64_t a1, uint64_t b0, uint64_t b1) {             \
        struct wide a = make(a0, a1), b = make(b0, b1);                                                                \
        *result = name(a, b);                                                                                          \
    }

static void overflow(void) { __mazurka_fail("arithmetic", "signed overflow of a 128-bit integer"); }

INLINE struct wide checked_add(struct wide a, struct wide b) {
    struct wide sum = plus(a, b);
    if (is_negative(a) == is_negative(b) && is_negative(sum) != is_negative(a))
        overflow();
    return sum;
}

INLINE struct wide checked_sub(struct wide a, struct wide b) {
    struct wide rest = minus(a, b);
    if (is_negative(a) != is_negative(b) && is_negative(rest) != is_negative(a))
        overflow();
    return rest;
}

INLINE struct wide mul(struct wide a, struct wide b) { return times(a, b); }

INLINE struct wide checked_mul(struct wide a, struct wide b) {
    struct wide x = magnitude(a), y = magnitude(b);
    _Bool negative = is_negative(a) != is_negative(b);
    struct wide result = times(x, y), crossed = make(0, 0);
    if (x.high && y.high)
        overflow();
    crossed = x.high ? product(x.high, y.low) : product(x.low, y.high);
    if (crossed.high || product(x.low, y.low).high + crossed.low < crossed.low)
        overflow();
    if (is_negative(result) && !(negative && result.low == 0 && result.high == 1ull << 63))
        overflow();
    return negative ? negated(result) : result;
}

INLINE struct wide udiv(struct wide a, struct wide b) {
    struct wide rest;
    return divide(a, b, &rest);
}

INLINE struct wide urem(struct wide a, struct wide b) {
    struct wide rest;
    divide(a, b, &rest);
    return rest;
}

static void require_fit(struct wide a, struct wide b) {
    if (a.low == 0 && a.high == 1ull << 63 && b.low == UINT64_MAX && b.high == UINT64_MAX)
        __mazurka_fail("arithmetic", "the result of a division does not fit its type");
}

INLINE struct wide sdiv(struct wide a, struct wide b) {
    require_fit(a, b);
    struct wide quotient = udiv(magnitude(a), magnitude(b));
    return is_negative(a) != is_negative(b) ? negated(quotient) : quotient;
}

INLINE struct wide srem(struct wide a, struct wide b) {
    require_fit(a, b);
    struct wide rest = urem(magnitude(a), magnitude(b));
    return is_negative(a) ? negated(rest) : rest;
}

INLINE struct wide shl(struct wide a, struct wide by) {
    return by.high || by.low > 127 ? make(0, 0) : left(a, (unsigned)by.low);
}

INLINE struct wide lshr(struct wide a, struct wide by) {
    return by.high || by.low > 127 ? make(0, 0) : right(a, (unsigned)by.low);
}

INLINE struct wide ashr(struct wide a, struct wide by) {
    struct wide flipped = is_negative(a) ? make(~a.low, ~a.high) : a;
    flipped = lshr(flipped, by);
    return is_negative(a) ? make(~flipped.low, ~flipped.high) : flipped;
}

static void require_shift(struct wide by) {
    if (by.high || by.low > 127)
        __mazurka_fail("arithmetic", "a shift of a 128-bit integer by a negative number, or by 128 or more");
}

#define CHECKED_SHIFT(name)                                                                                            \
    INLINE struct wide checked_##name(struct wide a, struct wide by) {                                                 \
        require_shift(by);                                                                                             \
        return name(a, by);                                                                                            \
    }

/* clang-format off */
CHECKED_SHIFT(shl) CHECKED_SHIFT(lshr) CHECKED_SHIFT(ashr)

OPERATION(checked_add) OPERATION(checked_sub) OPERATION(mul) OPERATION(checked_mul)
OPERATION(udiv) OPERATION(urem) OPERATION(sdiv) OPERATION(srem)
OPERATION(shl) OPERATION(lshr) OPERATION(ashr)
OPERATION(checked_shl) OPERATION(checked_lshr) OPERATION(checked_ashr)
    /* clang-format on */

    /* Rounded once: what lies below the 64 uppermost bits only says whether there is anything. */
    INLINE double scaled(struct wide a, unsigned *shift) {
    unsigned bits = length(a);
    *shift = bits > 64 ? bits - 64 : 0;
    struct wide top = right(a, *shift), lost = minus(a, left(top, *shift));
    return (double)(top.low | (lost.low | lost.high ? 1 : 0));
}

INLINE double power_of_two(unsigned exponent) {
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double x;
    __builtin_memcpy(&x, &bits, 8);
    return x;
}

double __mazurka_uitofp128(uint64_t low, uint64_t high) {
    unsigned shift;
    double top = scaled(make(low, high), &shift);
    return top * power_of_two(shift);
}

double __mazurka_sitofp128(uint64_t low, uint64_t high) {
    struct wide a = make(low, high), size = magnitude(a);
    double result = __mazurka_uitofp128(size.low, size.high);
    return is_negative(a) ? -result : result;
}

float __mazurka_uitofp128f(uint64_t low, uint64_t high) {
    struct wide a = make(low, high);
    unsigned bits = length(a), shift = bits > 64 ? bits - 64 : 0;
    struct wide top = right(a, shift), lost = minus(a, left(top, shift));
    float rounded = (float)(top.low | (lost.low | lost.high ? 1 : 0));
    return (float)((double)rounded * power_of_two(shift));
}

float __mazurka_sitofp128f(uint64_t low, uint64_t high) {
    struct wide a = make(low, high), size = magnitude(a);
    float result = __mazurka_uitofp128f(size.low, size.high);
    return is_negative(a) ? -result : result;
}

/* What does not fit is undefined. */
static struct wide truncated(double value) {
    uint64_t bits;
    __builtin_memcpy(&bits, &value, 8);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1075;
    struct wide mantissa = make((bits & ((1ull << 52) - 1)) | 1ull << 52, 0);
    if (exponent < -52)
        return make(0, 0);
    return exponent < 0    ? right(mantissa, (unsigned)-exponent)
           : exponent < 76 ? left(mantissa, (unsigned)exponent)
                           : make(0, 1ull << 63);
}

void __mazurka_fptoui128(struct wide *result, double value) { *result = truncated(value); }

void __mazurka_fptosi128(struct wide *result, double value) {
    *result = value < 0 ? negated(truncated(value)) : truncated(value);
}
