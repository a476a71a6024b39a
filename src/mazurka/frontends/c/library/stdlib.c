/* Numbers in strings, sorting. (Random numbers are in inputs.c.) */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "mazurka.h"

/* The environment is empty. */
char *getenv(const char *name) {
    (void)name;
    return NULL;
}

int abs(int number) { return number < 0 ? -number : number; }

long labs(long number) { return number < 0 ? -number : number; }

long long llabs(long long number) { return number < 0 ? -number : number; }

div_t div(int numerator, int denominator) {
    div_t result = {numerator / denominator, numerator % denominator};
    return result;
}

ldiv_t ldiv(long numerator, long denominator) {
    ldiv_t result = {numerator / denominator, numerator % denominator};
    return result;
}

static int digit_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 10;
    return 99;
}

/* Reads a sign and digits, and negates. A number that does not fit gives the nearest that does. */
static unsigned long parse(const char *text, char **end, int base, _Bool with_sign) {
    const char *at = text;
    _Bool negative = 0, any = 0, overflow = 0;
    while ((isspace)((unsigned char)*at))
        at++;
    if (*at == '+' || *at == '-')
        negative = *at++ == '-';
    if ((base == 0 || base == 16) && at[0] == '0' && (at[1] == 'x' || at[1] == 'X') && digit_value(at[2]) < 16) {
        at += 2;
        base = 16;
    } else if (base == 0) {
        base = at[0] == '0' ? 8 : 10;
    }
    unsigned long most = with_sign ? (unsigned long)LONG_MAX + negative : ULONG_MAX;
    unsigned long value = 0;
    for (int digit; (digit = digit_value(*at)) < base; at++) {
        any = 1;
        if (overflow || value > (most - (unsigned long)digit) / (unsigned long)base)
            overflow = 1;
        else
            value = value * (unsigned long)base + (unsigned long)digit;
    }
    if (end)
        *end = (char *)(any ? at : text);
    if (overflow) {
        errno = ERANGE;
        return most;
    }
    return negative ? -value : value;
}

long strtol(const char *restrict text, char **restrict end, int base) { return (long)parse(text, end, base, 1); }

unsigned long strtoul(const char *restrict text, char **restrict end, int base) { return parse(text, end, base, 0); }

long long strtoll(const char *restrict text, char **restrict end, int base) { return strtol(text, end, base); }

unsigned long long strtoull(const char *restrict text, char **restrict end, int base) {
    return strtoul(text, end, base);
}

long atol(const char *text) { return strtol(text, NULL, 10); }

long long atoll(const char *text) { return strtol(text, NULL, 10); }

int atoi(const char *text) { return (int)strtol(text, NULL, 10); }

/* What the header calls these functions when newer standards are asked for. */
long __isoc23_strtol(const char *restrict text, char **restrict end, int base) { return strtol(text, end, base); }

unsigned long __isoc23_strtoul(const char *restrict text, char **restrict end, int base) {
    return strtoul(text, end, base);
}

long long __isoc23_strtoll(const char *restrict text, char **restrict end, int base) { return strtol(text, end, base); }

unsigned long long __isoc23_strtoull(const char *restrict text, char **restrict end, int base) {
    return strtoul(text, end, base);
}

static void swap(char *left, char *right, size_t size) {
    if (((uintptr_t)left & 7) == 0 && ((uintptr_t)right & 7) == 0 && (size & 7) == 0) {
        for (size_t i = 0; i < size; i += 8) {
            uint64_t word = *(uint64_t *)(left + i);
            *(uint64_t *)(left + i) = *(uint64_t *)(right + i);
            *(uint64_t *)(right + i) = word;
        }
    } else {
        for (size_t i = 0; i < size; i++) {
            char byte = left[i];
            left[i] = right[i];
            right[i] = byte;
        }
    }
}

/* Insertion: arrays are small here. */
void qsort(void *array, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    char *first = array;
    for (size_t i = 1; i < count; i++)
        for (char *at = first + i * size; at > first && compare(at - size, at) > 0; at -= size)
            swap(at - size, at, size);
}

void *bsearch(const void *key, const void *array, size_t count, size_t size,
              int (*compare)(const void *, const void *)) {
    const char *first = array;
    while (count > 0) {
        const char *middle = first + count / 2 * size;
        int order = compare(key, middle);
        if (order == 0)
            return (void *)middle;
        if (order > 0) {
            first = middle + size;
            count -= count / 2 + 1;
        } else {
            count /= 2;
        }
    }
    return NULL;
}
