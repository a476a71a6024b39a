/* math.h. What takes approximation is an instruction of the machine, which asks the C library that Mazurka runs on; the
 * rest is computed here from the bits. errno is not set, as with -fno-math-errno. */
#define _GNU_SOURCE
#include <limits.h>
#include <math.h>
#include <stdint.h>

#include "mazurka.h"

#define UNARY(name)                                                                                                    \
    double __mazurka_##name(double);                                                                                   \
    float __mazurka_##name##f(float);                                                                                  \
    double name(double x) { return __mazurka_##name(x); }                                                              \
    float name##f(float x) { return __mazurka_##name##f(x); }
#define BINARY(name)                                                                                                   \
    double __mazurka_##name(double, double);                                                                           \
    float __mazurka_##name##f(float, float);                                                                           \
    double name(double x, double y) { return __mazurka_##name(x, y); }                                                 \
    float name##f(float x, float y) { return __mazurka_##name##f(x, y); }

/* clang-format off */
UNARY(sin) UNARY(cos) UNARY(tan) UNARY(asin) UNARY(acos) UNARY(atan) UNARY(sinh) UNARY(cosh) UNARY(tanh) UNARY(asinh)
UNARY(acosh) UNARY(atanh) UNARY(exp) UNARY(exp2) UNARY(expm1) UNARY(log) UNARY(log2) UNARY(log10) UNARY(log1p) UNARY(cbrt)
UNARY(erf) UNARY(erfc) UNARY(tgamma) UNARY(sqrt) UNARY(fabs) UNARY(floor) UNARY(ceil) UNARY(trunc) UNARY(round) UNARY(rint)
BINARY(pow) BINARY(atan2) BINARY(hypot) BINARY(remainder) BINARY(nextafter)
    /* clang-format on */

    double __mazurka_fma(double, double, double);
float __mazurka_fmaf(float, float, float);
double fma(double x, double y, double z) { return __mazurka_fma(x, y, z); }
float fmaf(float x, float y, float z) { return __mazurka_fmaf(x, y, z); }

double nearbyint(double x) { return __mazurka_rint(x); }
float nearbyintf(float x) { return __mazurka_rintf(x); }
double drem(double x, double y) { return __mazurka_remainder(x, y); }
float dremf(float x, float y) { return __mazurka_remainderf(x, y); }
double exp10(double x) { return __mazurka_pow(10, x); }
float exp10f(float x) { return __mazurka_powf(10, x); }
double pow10(double x) { return __mazurka_pow(10, x); }

/* Each thread would write it; whoever looks at it has to see to the order. */
int signgam;

double __mazurka_lgamma(double);
float __mazurka_lgammaf(float);

double lgamma_r(double x, int *sign) {
    *sign = (x < 0 || (x == 0 && __builtin_signbit(x))) && x != -__builtin_inf() &&
                    (x == 0 || (x != __mazurka_floor(x) && fmod(__mazurka_floor(x), 2) != 0))
                ? -1
                : 1;
    return __mazurka_lgamma(x);
}
float lgammaf_r(float x, int *sign) {
    lgamma_r(x, sign);
    return __mazurka_lgammaf(x);
}
double lgamma(double x) { return lgamma_r(x, &signgam); }
float lgammaf(float x) { return lgammaf_r(x, &signgam); }

double fmod(double x, double y) { return __builtin_fmod(x, y); }
float fmodf(float x, float y) { return __builtin_fmodf(x, y); }
double fmax(double x, double y) { return __builtin_fmax(x, y); }
float fmaxf(float x, float y) { return __builtin_fmaxf(x, y); }
double fmin(double x, double y) { return __builtin_fmin(x, y); }
float fminf(float x, float y) { return __builtin_fminf(x, y); }
double copysign(double x, double y) { return __builtin_copysign(x, y); }
float copysignf(float x, float y) { return __builtin_copysignf(x, y); }

double fdim(double x, double y) { return x <= y ? 0 : x - y; }
float fdimf(float x, float y) { return x <= y ? 0 : x - y; }

double nan(const char *text) {
    (void)text;
    return __builtin_nan("");
}
float nanf(const char *text) {
    (void)text;
    return __builtin_nanf("");
}

/* A finite number other than 0 is m * 2^e, with 0.5 <= |m| < 1. */
double frexp(double x, int *exponent) {
    *exponent = 0;
    if (x == 0 || !__builtin_isfinite(x))
        return x;
    if (__builtin_fabs(x) < 0x1p-1022) {
        x *= 0x1p54;
        *exponent = -54;
    }
    uint64_t bits;
    __builtin_memcpy(&bits, &x, 8);
    *exponent += (int)(bits >> 52 & 0x7ff) - 1022;
    bits = (bits & ~(0x7ffull << 52)) | 1022ull << 52;
    __builtin_memcpy(&x, &bits, 8);
    return x;
}
float frexpf(float x, int *exponent) { return (float)frexp(x, exponent); }

static double power_of_two(int exponent) {
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double x;
    __builtin_memcpy(&x, &bits, 8);
    return x;
}

/* In steps that are exact, except for the last. */
double scalbn(double x, int exponent) {
    for (int i = 0; i < 2 && exponent > 1023; i++, exponent -= 1023)
        x *= 0x1p1023;
    if (exponent > 1023)
        exponent = 1023;
    for (int i = 0; i < 2 && exponent < -1022; i++, exponent += 969)
        x *= 0x1p-969; /* leaves 53 bits above the least normal number */
    if (exponent < -1022)
        exponent = -1022;
    return x * power_of_two(exponent);
}
float scalbnf(float x, int exponent) { return (float)scalbn(x, exponent); }
double ldexp(double x, int exponent) { return scalbn(x, exponent); }
float ldexpf(float x, int exponent) { return (float)scalbn(x, exponent); }
double scalbln(double x, long exponent) {
    return scalbn(x, exponent > INT_MAX ? INT_MAX : exponent < INT_MIN ? INT_MIN : (int)exponent);
}
float scalblnf(float x, long exponent) { return (float)scalbln(x, exponent); }

double modf(double x, double *whole) { return __builtin_modf(x, whole); }
float modff(float x, float *whole) { return __builtin_modff(x, whole); }

int ilogb(double x) {
    int exponent;
    if (x == 0)
        return FP_ILOGB0;
    if (__builtin_isnan(x))
        return FP_ILOGBNAN;
    if (__builtin_isinf(x))
        return INT_MAX;
    frexp(x, &exponent);
    return exponent - 1;
}
int ilogbf(float x) { return ilogb(x); }
double logb(double x) {
    if (x == 0)
        return -__builtin_inf();
    return __builtin_isfinite(x) ? (double)ilogb(x) : x * x;
}
float logbf(float x) { return (float)logb(x); }

long lround(double x) { return (long)__mazurka_round(x); }
long lroundf(float x) { return (long)__mazurka_roundf(x); }
long long llround(double x) { return (long long)__mazurka_round(x); }
long long llroundf(float x) { return (long long)__mazurka_roundf(x); }
long lrint(double x) { return (long)__mazurka_rint(x); }
long lrintf(float x) { return (long)__mazurka_rintf(x); }
long long llrint(double x) { return (long long)__mazurka_rint(x); }
long long llrintf(float x) { return (long long)__mazurka_rintf(x); }

/* The quotient that goes with the remainder, of which three bits and the sign are given. */
double remquo(double x, double y, int *quotient) {
    double rest = __mazurka_remainder(x, y);
    *quotient = 0;
    if (!__builtin_isfinite(x) || y == 0 || __builtin_isnan(y) || __builtin_isinf(y))
        return rest;
    double eight = fmod(__builtin_fabs(x), 8 * __builtin_fabs(y));
    if (__builtin_isinf(8 * y))
        eight = __builtin_fabs(x);
    int bits = (int)__mazurka_rint((eight - (__builtin_signbit(x) ? -rest : rest)) / __builtin_fabs(y)) & 7;
    *quotient = __builtin_signbit(x) != __builtin_signbit(y) ? -bits : bits;
    return rest;
}
float remquof(float x, float y, int *quotient) { return (float)remquo(x, y, quotient); }

void sincos(double x, double *sine, double *cosine) {
    *sine = __mazurka_sin(x);
    *cosine = __mazurka_cos(x);
}
void sincosf(float x, float *sine, float *cosine) {
    *sine = __mazurka_sinf(x);
    *cosine = __mazurka_cosf(x);
}
