/* Floats in strings, rounded as the standard says: to the nearest, computed exactly.
 *
 * A decimal number is a quotient of two large integers, of which 64 bits and whether there is a rest are enough to
 * round. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "waiting.h"

enum { WORDS = 100, MOST_DIGITS = 800, LARGEST_POWER = 400 };

struct large {
    int count; /* words in use; the last is not 0 */
    uint32_t words[WORDS];
};

static void multiply_add(struct large *number, uint32_t factor, uint32_t added) {
    uint64_t carry = added;
    for (int i = 0; i < number->count; i++) {
        carry += (uint64_t)number->words[i] * factor;
        number->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry)
        number->words[number->count++] = (uint32_t)carry;
}

static void multiply_by_power_of_ten(struct large *number, int power) {
    for (; power >= 9; power -= 9)
        multiply_add(number, 1000000000, 0);
    for (; power > 0; power--)
        multiply_add(number, 10, 0);
}

static int length(const struct large *number) {
    return number->count ? 32 * number->count - __builtin_clz(number->words[number->count - 1]) : 0;
}

static void shift_left(struct large *number, int by) {
    int words = by / 32, bits = by % 32;
    if (number->count == 0 || by == 0)
        return;
    uint32_t carry = 0;
    for (int i = 0; i < number->count && bits; i++) {
        uint32_t word = number->words[i];
        number->words[i] = word << bits | carry;
        carry = word >> (32 - bits);
    }
    if (carry)
        number->words[number->count++] = carry;
    if (words) {
        for (int i = number->count - 1; i >= 0; i--)
            number->words[i + words] = number->words[i];
        for (int i = 0; i < words; i++)
            number->words[i] = 0;
        number->count += words;
    }
}

static _Bool is_below(const struct large *a, const struct large *b) {
    if (a->count != b->count)
        return a->count < b->count;
    for (int i = a->count - 1; i >= 0; i--)
        if (a->words[i] != b->words[i])
            return a->words[i] < b->words[i];
    return 0;
}

static void subtract(struct large *a, const struct large *b) {
    uint64_t borrow = 0;
    for (int i = 0; i < a->count; i++) {
        uint64_t rest = (uint64_t)a->words[i] - (i < b->count ? b->words[i] : 0) - borrow;
        a->words[i] = (uint32_t)rest;
        borrow = rest >> 63;
    }
    while (a->count && a->words[a->count - 1] == 0)
        a->count--;
}

/* What a float can hold: bits of the mantissa, the least and the largest exponent of a normal number. */
struct kind {
    int bits, least, largest;
};

/* top * 2^(exponent - 63), where the uppermost bit of `top` is set, and a little more if there is a `rest`. */
static double rounded(uint64_t top, int exponent, _Bool rest, struct kind kind) {
    int keep = exponent < kind.least ? kind.bits - (kind.least - exponent) : kind.bits;
    if (keep < 0) {
        errno = ERANGE;
        return 0;
    }
    uint64_t kept = keep ? top >> (64 - keep) : 0, lost = keep ? top << keep : top;
    _Bool inexact = lost || rest;
    if (lost > 1ull << 63 || (lost == 1ull << 63 && (rest || (kept & 1))))
        kept++;
    double result = scalbn((double)kept, exponent - keep + 1);
    if (exponent > kind.largest || result >= scalbn(1, kind.largest) * 2) {
        errno = ERANGE;
        return __builtin_inf();
    }
    if (inexact && result < scalbn(1, kind.least))
        errno = ERANGE;
    return result;
}

static double from_decimal(const char *digits, int count, int power, struct kind kind) {
    struct large above = {0}, below = {1, {1}};
    while (count > 0 && *digits == '0') {
        digits++;
        count--;
    }
    if (count == 0)
        return 0;
    if (count + power > LARGEST_POWER || count + power < -LARGEST_POWER) {
        errno = ERANGE;
        return power > 0 ? __builtin_inf() : 0;
    }
    for (int i = 0; i < count; i++)
        multiply_add(&above, 10, (uint32_t)(digits[i] - '0'));
    multiply_by_power_of_ten(power < 0 ? &below : &above, power < 0 ? -power : power);
    int shift = 64 - (length(&above) - length(&below));
    shift_left(shift < 0 ? &below : &above, shift < 0 ? -shift : shift);
    /* The quotient has 64 or 65 bits. */
    shift_left(&below, 64);
    uint64_t top = 0;
    int exponent = 63 - shift, found = 0;
    if (!is_below(&above, &below)) {
        subtract(&above, &below);
        top = 1;
        exponent++;
        found = 1;
    }
    for (; found < 64; found++) {
        multiply_add(&above, 2, 0);
        top <<= 1;
        if (!is_below(&above, &below)) {
            subtract(&above, &below);
            top |= 1;
        }
    }
    return rounded(top, exponent, above.count > 0, kind);
}

static int hexadecimal_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_power(const char **at, char letter) {
    const char *text = *at;
    if ((*text | 32) != letter)
        return 0;
    text++;
    _Bool negative = *text == '-';
    text += *text == '-' || *text == '+';
    if (*text < '0' || *text > '9')
        return 0;
    int power = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        if (power < 100000)
            power = power * 10 + (*text - '0');
    *at = text;
    return negative ? -power : power;
}

static double read_hexadecimal(const char **at, struct kind kind) {
    uint64_t top = 0;
    int exponent = 63;
    _Bool rest = 0, point = 0;
    for (;; (*at)++) {
        if (**at == '.' && !point) {
            point = 1;
            continue;
        }
        int digit = hexadecimal_digit(**at);
        if (digit < 0)
            break;
        if (top >> 60) {
            rest |= digit != 0;
            exponent += point ? 0 : 4;
        } else {
            top = top << 4 | (uint64_t)digit;
            exponent -= point ? 4 : 0;
        }
    }
    exponent += read_power(at, 'p');
    if (top == 0)
        return 0;
    int zeros = __builtin_clzll(top);
    return rounded(top << zeros, exponent - zeros, rest, kind);
}

static double read_decimal(const char **at, struct kind kind) {
    char digits[MOST_DIGITS + 1];
    int count = 0, power = 0;
    _Bool point = 0, rest = 0;
    for (;; (*at)++) {
        if (**at == '.' && !point) {
            point = 1;
            continue;
        }
        if (**at < '0' || **at > '9')
            break;
        if (count < MOST_DIGITS) {
            if (count || **at != '0')
                digits[count++] = **at;
            power -= point;
        } else {
            rest |= **at != '0';
            power += !point;
        }
    }
    if (rest) {
        digits[count++] = '1';
        power--;
    }
    power += read_power(at, 'e');
    return from_decimal(digits, count, power, kind);
}

static _Bool begins_with(const char *text, const char *word) {
    for (; *word; text++, word++)
        if ((*text | 32) != *word)
            return 0;
    return 1;
}

static double parse(const char *text, char **end, struct kind kind) {
    const char *at = text;
    double result = 0;
    while ((isspace)((unsigned char)*at))
        at++;
    _Bool negative = *at == '-';
    at += *at == '-' || *at == '+';
    if (begins_with(at, "inf")) {
        at += begins_with(at, "infinity") ? 8 : 3;
        result = __builtin_inf();
    } else if (begins_with(at, "nan")) {
        at += 3;
        result = __builtin_nan("");
    } else if (at[0] == '0' && (at[1] | 32) == 'x' &&
               (hexadecimal_digit(at[2]) >= 0 || (at[2] == '.' && hexadecimal_digit(at[3]) >= 0))) {
        at += 2;
        result = read_hexadecimal(&at, kind);
    } else if ((at[0] >= '0' && at[0] <= '9') || (at[0] == '.' && at[1] >= '0' && at[1] <= '9')) {
        result = read_decimal(&at, kind);
    } else {
        at = text;
        negative = 0;
    }
    if (end)
        *end = (char *)at;
    return negative ? -result : result;
}

static const struct kind of_double = {53, -1022, 1023}, of_float = {24, -126, 127};

double strtod(const char *restrict text, char **restrict end) { return parse(text, end, of_double); }

float strtof(const char *restrict text, char **restrict end) { return (float)parse(text, end, of_float); }

double atof(const char *text) { return parse(text, NULL, of_double); }
