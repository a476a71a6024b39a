/* Output. What is printed goes to one place, in the order in which it is printed, and is shown with the trace; that is no
 * event that other threads can notice. What goes to other streams is written to files.
 *
 * One formatter serves the whole printf family. It writes to a buffer (`to`, with `room` for so many bytes), or prints
 * (`to` is null and `room` is not 0), or only counts (both are 0). Its parts take the number of bytes written so far
 * and return it, increased. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"

/* Constants, unlike in the header, so that reading them is no event. */
static struct stream streams[3] = {{0}, {1}, {2}};
FILE *const standard_input __asm__("stdin") = (FILE *)&streams[0];
FILE *const standard_output __asm__("stdout") = (FILE *)&streams[1];
FILE *const standard_error __asm__("stderr") = (FILE *)&streams[2];

static _Bool is_printed(FILE *stream) { return stream == standard_output || stream == standard_error; }

/* ------------------------------------------------------------------------------------------------ pieces */

struct format {
    _Bool left, plus, space, alternative, zeros;
    int width;
    int precision; /* -1: not given */
    char length;   /* 'H' for hh, 'h', 'l' for all that is 64 bits wide, or 0 */
    char conversion;
};

static size_t put(char *to, size_t room, size_t at, char byte) {
    if (to) {
        if (at < room)
            to[at] = byte;
    } else if (room) {
        __mazurka_output(byte);
    }
    return at + 1;
}

static size_t put_many(char *to, size_t room, size_t at, char byte, int count) {
    for (; count > 0; count--)
        at = put(to, room, at, byte);
    return at;
}

static size_t put_string(char *to, size_t room, size_t at, const char *string) {
    for (char byte; (byte = *string); string++)
        at = put(to, room, at, byte);
    return at;
}

/* The blanks or zeros around something of a certain length: call before and after it. */
static size_t put_start(char *to, size_t room, size_t at, const struct format *format, const char *prefix, int length,
                        _Bool zeros) {
    int padding = format->width - length - (int)strlen(prefix);
    if (!format->left && !zeros)
        at = put_many(to, room, at, ' ', padding);
    at = put_string(to, room, at, prefix);
    if (!format->left && zeros)
        at = put_many(to, room, at, '0', padding);
    return at;
}

static size_t put_end(char *to, size_t room, size_t at, const struct format *format, size_t start) {
    if (format->left)
        at = put_many(to, room, at, ' ', format->width - (int)(at - start));
    return at;
}

static const char *sign_of(const struct format *format, _Bool negative) {
    if (negative)
        return "-";
    return format->plus ? "+" : format->space ? " " : "";
}

/* ----------------------------------------------------------------------------------------------- integers */

static char digit_for(unsigned digit, _Bool upper) {
    if (digit < 10)
        return (char)('0' + digit);
    return (char)((upper ? 'A' : 'a') + digit - 10);
}

static size_t put_integer(char *to, size_t room, size_t at, const struct format *format, const char *prefix,
                          uint64_t value, unsigned base) {
    _Bool upper = format->conversion == 'X';
    int digits = value != 0;
    uint64_t power = 1;
    for (; value / power >= base; power *= base)
        digits++;
    int least = format->precision < 0 ? 1 : format->precision;
    if (format->alternative && base == 8 && least <= digits)
        least = digits + 1;
    int leading = least > digits ? least - digits : 0;
    size_t start = at;
    at = put_start(to, room, at, format, prefix, leading + digits, format->zeros && format->precision < 0);
    at = put_many(to, room, at, '0', leading);
    for (; digits > 0; digits--, power /= base)
        at = put(to, room, at, digit_for((unsigned)(value / power % base), upper));
    return put_end(to, room, at, format, start);
}

/* -------------------------------------------------------------------------------------- floating point */

/* A number as 0.ddd times ten to the power of `point`, exactly. */
struct decimal {
    int count;
    int point;
    char digits[9 * 160];
};

enum { BILLION = 1000000000, POINT = 36, WORDS = POINT + 121 };

/* mantissa * 2^exponent, by arithmetic on digits of base 10^9, with the point before words[POINT]. */
static void to_decimal(uint64_t mantissa, int exponent, struct decimal *decimal) {
    uint32_t words[WORDS];
    int first = POINT - 2, last = POINT;
    words[POINT - 1] = (uint32_t)(mantissa % BILLION);
    words[POINT - 2] = (uint32_t)(mantissa / BILLION);
    while (exponent > 0) {
        int shift = exponent < 29 ? exponent : 29;
        uint64_t carry = 0;
        for (int i = last - 1; i >= first; i--) {
            uint64_t value = ((uint64_t)words[i] << shift) + carry;
            words[i] = (uint32_t)(value % BILLION);
            carry = value / BILLION;
        }
        if (carry)
            words[--first] = (uint32_t)carry;
        exponent -= shift;
    }
    while (exponent < 0) {
        int shift = -exponent < 9 ? -exponent : 9; /* 10^9 is a multiple of 2^9: one more word takes the rest exactly */
        uint32_t carry = 0;
        for (int i = first; i < last; i++) {
            uint32_t value = words[i];
            words[i] = (value >> shift) + carry;
            carry = (value & ((1u << shift) - 1)) * (BILLION >> shift);
        }
        if (carry)
            words[last++] = carry;
        exponent += shift;
    }
    decimal->count = 0;
    decimal->point = 9 * (POINT - first);
    for (int i = first; i < last; i++)
        for (uint32_t power = BILLION / 10; power > 0; power /= 10) {
            char digit = (char)('0' + words[i] / power % 10);
            if (decimal->count == 0 && digit == '0')
                decimal->point--;
            else
                decimal->digits[decimal->count++] = digit;
        }
    while (decimal->count > 0 && decimal->digits[decimal->count - 1] == '0')
        decimal->count--;
    if (decimal->count == 0)
        decimal->point = 1; /* zero is written 0.0, with exponent 0 */
}

/* Keep so many digits; a tie goes to the even neighbour. */
static void round_decimal(struct decimal *decimal, int keep) {
    if (keep >= decimal->count)
        return;
    if (keep < 0) {
        decimal->count = 0;
        return;
    }
    char next = decimal->digits[keep];
    _Bool odd = keep > 0 && (decimal->digits[keep - 1] & 1);
    _Bool up = next > '5' || (next == '5' && (decimal->count > keep + 1 || odd));
    decimal->count = keep;
    if (!up)
        return;
    int i = keep - 1;
    for (; i >= 0 && decimal->digits[i] == '9'; i--)
        decimal->digits[i] = '0';
    if (i >= 0) {
        decimal->digits[i]++;
    } else {
        decimal->digits[0] = '1';
        decimal->point++;
        if (keep == 0)
            decimal->count = 1;
    }
}

static char digit_at(const struct decimal *decimal, int i) {
    return i >= 0 && i < decimal->count ? decimal->digits[i] : '0';
}

static size_t put_fraction(char *to, size_t room, size_t at, const struct format *format, const struct decimal *decimal,
                           int from, int precision) {
    if (precision > 0 || format->alternative)
        at = put(to, room, at, '.');
    for (int i = 0; i < precision; i++)
        at = put(to, room, at, digit_at(decimal, from + i));
    return at;
}

static size_t put_power(char *to, size_t room, size_t at, char letter, int power, int digits) {
    at = put(to, room, at, letter);
    at = put(to, room, at, power < 0 ? '-' : '+');
    int unit = 1;
    while (--digits > 0)
        unit *= 10;
    for (int size = power < 0 ? -power : power; unit > 0; unit /= 10)
        at = put(to, room, at, (char)('0' + size / unit % 10));
    return at;
}

/* mantissa * 2^(exponent - 52) in hexadecimal. Without a precision, as many digits as it takes. */
static size_t put_hexadecimal(char *to, size_t room, size_t at, const struct format *format, _Bool negative,
                              uint64_t mantissa, int exponent) {
    _Bool upper = format->conversion == 'A';
    int digits = format->precision;
    if (digits < 0)
        for (digits = 13; digits > 0 && (mantissa >> (52 - 4 * digits) & 15) == 0;)
            digits--;
    if (digits < 13) {
        uint64_t unit = (uint64_t)1 << (52 - 4 * digits), rest = mantissa & (unit - 1);
        mantissa -= rest;
        if (rest > unit / 2 || (rest == unit / 2 && mantissa & unit))
            mantissa += unit;
    }
    int size = exponent < 0 ? -exponent : exponent;
    int power_digits = size >= 1000 ? 4 : size >= 100 ? 3 : size >= 10 ? 2 : 1;
    const char *sign = sign_of(format, negative);
    char prefix[4] = {0};
    strcat(strcpy(prefix, sign), upper ? "0X" : "0x");
    _Bool with_point = digits > 0 || format->alternative;
    at = put_start(to, room, at, format, prefix, 1 + with_point + digits + 2 + power_digits, format->zeros);
    at = put(to, room, at, digit_for((unsigned)(mantissa >> 52), upper));
    if (with_point)
        at = put(to, room, at, '.');
    for (int i = 1; i <= digits; i++)
        at = put(to, room, at, digit_for(i <= 13 ? mantissa >> (52 - 4 * i) & 15 : 0, upper));
    return put_power(to, room, at, upper ? 'P' : 'p', exponent, power_digits);
}

static size_t put_float(char *to, size_t room, size_t at, const struct format *format, double value) {
    union {
        double value;
        uint64_t bits;
    } number = {value};
    uint64_t mantissa = number.bits & (((uint64_t)1 << 52) - 1);
    int exponent = (int)(number.bits >> 52 & 2047);
    const char *sign = sign_of(format, number.bits >> 63);
    char style = format->conversion | 32;
    _Bool upper = style != format->conversion;
    size_t start = at;
    if (exponent == 2047) {
        at = put_start(to, room, at, format, sign, 3, 0);
        at = put_string(to, room, at, mantissa ? upper ? "NAN" : "nan" : upper ? "INF" : "inf");
        return put_end(to, room, at, format, start);
    }
    if (style == 'a') {
        uint64_t whole = exponent ? mantissa | (uint64_t)1 << 52 : mantissa;
        at = put_hexadecimal(to, room, at, format, number.bits >> 63, whole, whole ? (exponent ? exponent : 1) - 1023 : 0);
        return put_end(to, room, at, format, start);
    }
    struct decimal decimal;
    to_decimal(exponent ? mantissa | (uint64_t)1 << 52 : mantissa, (exponent ? exponent : 1) - 1075, &decimal);
    int precision = format->precision < 0 ? 6 : format->precision;
    if (style == 'g') {
        int significant = precision ? precision : 1;
        round_decimal(&decimal, significant);
        int power = decimal.point - 1;
        style = power < significant && power >= -4 ? 'f' : 'e';
        if (!format->alternative) {
            while (decimal.count > 1 && decimal.digits[decimal.count - 1] == '0')
                decimal.count--;
            significant = decimal.count > 1 ? decimal.count : 1;
        }
        precision = style == 'e' ? significant - 1 : significant - decimal.point;
        if (precision < 0)
            precision = 0;
    }
    _Bool with_point = precision > 0 || format->alternative;
    if (style == 'f') {
        round_decimal(&decimal, decimal.point + precision);
        int whole = decimal.point > 0 ? decimal.point : 1;
        at = put_start(to, room, at, format, sign, whole + with_point + precision, format->zeros);
        for (int i = 0; i < whole; i++)
            at = put(to, room, at, digit_at(&decimal, decimal.point > 0 ? i : -1));
        at = put_fraction(to, room, at, format, &decimal, decimal.point, precision);
    } else {
        round_decimal(&decimal, precision + 1);
        int power = decimal.point - 1;
        int power_digits = power <= -100 || power >= 100 ? 3 : 2;
        at = put_start(to, room, at, format, sign, 1 + with_point + precision + 2 + power_digits, format->zeros);
        at = put(to, room, at, digit_at(&decimal, 0));
        at = put_fraction(to, room, at, format, &decimal, 1, precision);
        at = put_power(to, room, at, upper ? 'E' : 'e', power, power_digits);
    }
    return put_end(to, room, at, format, start);
}

/* ---------------------------------------------------------------------------------------- the formatter */

static int64_t next_signed(va_list arguments, char length) {
    switch (length) {
    case 'l':
        return va_arg(arguments, long);
    case 'h':
        return (short)va_arg(arguments, int);
    case 'H':
        return (signed char)va_arg(arguments, int);
    default:
        return va_arg(arguments, int);
    }
}

static uint64_t next_unsigned(va_list arguments, char length) {
    switch (length) {
    case 'l':
        return va_arg(arguments, unsigned long);
    case 'h':
        return (unsigned short)va_arg(arguments, unsigned);
    case 'H':
        return (unsigned char)va_arg(arguments, unsigned);
    default:
        return va_arg(arguments, unsigned);
    }
}

static size_t put_text(char *to, size_t room, size_t at, const struct format *format, const char *string) {
    if (string == NULL)
        string = format->precision >= 0 && format->precision < 6 ? "" : "(null)";
    size_t length = strnlen(string, format->precision < 0 ? SIZE_MAX : (size_t)format->precision);
    size_t start = at;
    at = put_start(to, room, at, format, "", (int)length, 0);
    for (size_t i = 0; i < length; i++)
        at = put(to, room, at, string[i]);
    return put_end(to, room, at, format, start);
}

static void store_count(va_list arguments, char length, size_t count) {
    switch (length) {
    case 'l':
        *va_arg(arguments, long *) = (long)count;
        break;
    case 'h':
        *va_arg(arguments, short *) = (short)count;
        break;
    case 'H':
        *va_arg(arguments, signed char *) = (signed char)count;
        break;
    default:
        *va_arg(arguments, int *) = (int)count;
    }
}

static size_t put_conversion(char *to, size_t room, size_t at, const struct format *format, va_list arguments) {
    size_t start = at;
    if (format->length == 'l' && (format->conversion == 'c' || format->conversion == 's'))
        __mazurka_fail("abort", "printf: wide characters are not supported");
    switch (format->conversion) {
    case 'd':
    case 'i': {
        int64_t value = next_signed(arguments, format->length);
        uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
        return put_integer(to, room, at, format, sign_of(format, value < 0), magnitude, 10);
    }
    case 'u':
        return put_integer(to, room, at, format, "", next_unsigned(arguments, format->length), 10);
    case 'o':
        return put_integer(to, room, at, format, "", next_unsigned(arguments, format->length), 8);
    case 'x':
    case 'X': {
        uint64_t value = next_unsigned(arguments, format->length);
        const char *prefix = !format->alternative || value == 0 ? "" : format->conversion == 'x' ? "0x" : "0X";
        return put_integer(to, room, at, format, prefix, value, 16);
    }
    case 'p': {
        void *value = va_arg(arguments, void *);
        if (value)
            return put_integer(to, room, at, format, "0x", (uint64_t)value, 16);
        at = put_start(to, room, at, format, "", 5, 0);
        return put_end(to, room, put_string(to, room, at, "(nil)"), format, start);
    }
    case 'c': {
        char value = (char)va_arg(arguments, int);
        at = put_start(to, room, at, format, "", 1, 0);
        return put_end(to, room, put(to, room, at, value), format, start);
    }
    case 's':
        return put_text(to, room, at, format, va_arg(arguments, const char *));
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        return put_float(to, room, at, format, va_arg(arguments, double));
    case 'm':
        return put_text(to, room, at, format, strerror(errno));
    case 'n':
        store_count(arguments, format->length, at);
        return at;
    case '%':
        return put(to, room, at, '%');
    default:
        __mazurka_fail("abort", "printf: a conversion that is not supported");
    }
}

static const char *read_flags(const char *text, struct format *format) {
    for (;; text++) {
        switch (*text) {
        case '-':
            format->left = 1;
            break;
        case '+':
            format->plus = 1;
            break;
        case ' ':
            format->space = 1;
            break;
        case '#':
            format->alternative = 1;
            break;
        case '0':
            format->zeros = 1;
            break;
        default:
            return text;
        }
    }
}

static const char *read_number(const char *text, int *number) {
    for (*number = 0; *text >= '0' && *text <= '9'; text++)
        *number = 10 * *number + (*text - '0');
    return text;
}

static const char *read_length(const char *text, struct format *format) {
    switch (*text) {
    case 'h':
        format->length = text[1] == 'h' ? 'H' : 'h';
        return text + (text[1] == 'h' ? 2 : 1);
    case 'l':
        format->length = 'l';
        return text + (text[1] == 'l' ? 2 : 1);
    case 'j':
    case 'z':
    case 't':
        format->length = 'l';
        return text + 1;
    default:
        return text;
    }
}

static size_t put_formatted(char *to, size_t room, const char *text, va_list arguments) {
    size_t at = 0;
    for (char byte; (byte = *text); text++) {
        if (byte != '%') {
            at = put(to, room, at, byte);
            continue;
        }
        struct format format = {0};
        format.precision = -1;
        text = read_flags(text + 1, &format);
        if (*text == '*') {
            int width = va_arg(arguments, int);
            format.left |= width < 0;
            format.width = width < 0 ? -width : width;
            text++;
        } else {
            text = read_number(text, &format.width);
        }
        if (*text == '.') {
            if (text[1] == '*') {
                int precision = va_arg(arguments, int);
                format.precision = precision < 0 ? -1 : precision;
                text += 2;
            } else {
                text = read_number(text + 1, &format.precision);
            }
        }
        text = read_length(text, &format);
        format.conversion = *text;
        at = put_conversion(to, room, at, &format, arguments);
    }
    return at;
}

/* ------------------------------------------------------------------------------------ the printf family */

int vprintf(const char *restrict text, va_list arguments) { return (int)put_formatted(NULL, 1, text, arguments); }

int printf(const char *restrict text, ...) {
    va_list arguments;
    va_start(arguments, text);
    int result = vprintf(text, arguments);
    va_end(arguments);
    return result;
}

int vfprintf(FILE *restrict stream, const char *restrict text, va_list arguments) {
    return is_printed(stream) ? vprintf(text, arguments) : vdprintf(stream_of(stream)->descriptor, text, arguments);
}

int fprintf(FILE *restrict stream, const char *restrict text, ...) {
    va_list arguments;
    va_start(arguments, text);
    int result = vfprintf(stream, text, arguments);
    va_end(arguments);
    return result;
}

int vdprintf(int file, const char *restrict text, va_list arguments) {
    if (is_output(file))
        return vprintf(text, arguments);
    char *buffer;
    int length = vasprintf(&buffer, text, arguments);
    if (length < 0)
        return -1;
    long written = __mazurka_write(file, buffer, (size_t)length);
    free(buffer);
    return (int)written;
}

int dprintf(int file, const char *restrict text, ...) {
    va_list arguments;
    va_start(arguments, text);
    int result = vdprintf(file, text, arguments);
    va_end(arguments);
    return result;
}

int vsnprintf(char *restrict buffer, size_t size, const char *restrict text, va_list arguments) {
    size_t length = put_formatted(size ? buffer : NULL, size ? size - 1 : 0, text, arguments);
    if (size)
        buffer[length < size ? length : size - 1] = 0;
    return (int)length;
}

int snprintf(char *restrict buffer, size_t size, const char *restrict text, ...) {
    va_list arguments;
    va_start(arguments, text);
    int result = vsnprintf(buffer, size, text, arguments);
    va_end(arguments);
    return result;
}

int vsprintf(char *restrict buffer, const char *restrict text, va_list arguments) {
    return vsnprintf(buffer, SIZE_MAX, text, arguments);
}

int sprintf(char *restrict buffer, const char *restrict text, ...) {
    va_list arguments;
    va_start(arguments, text);
    int result = vsprintf(buffer, text, arguments);
    va_end(arguments);
    return result;
}

int vasprintf(char **restrict buffer, const char *restrict text, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, text, again);
    va_end(again);
    *buffer = malloc((size_t)length + 1);
    if (*buffer == NULL)
        return -1;
    return vsprintf(*buffer, text, arguments);
}

int asprintf(char **restrict buffer, const char *restrict text, ...) {
    va_list arguments;
    va_start(arguments, text);
    int result = vasprintf(buffer, text, arguments);
    va_end(arguments);
    return result;
}

/* ------------------------------------------------------------------------------------------ plain output */

int putchar(int byte) {
    __mazurka_output((char)byte);
    return (unsigned char)byte;
}

int fputc(int byte, FILE *stream) {
    if (is_printed(stream))
        return putchar(byte);
    char written = (char)byte;
    return __mazurka_write(stream_of(stream)->descriptor, &written, 1) == 1 ? (unsigned char)byte : EOF;
}

int putc(int byte, FILE *stream) { return fputc(byte, stream); }

int fputs(const char *restrict string, FILE *restrict stream) {
    if (!is_printed(stream))
        return __mazurka_write(stream_of(stream)->descriptor, string, strlen(string)) < 0 ? EOF : 1;
    put_string(NULL, 1, 0, string);
    return 1;
}

int puts(const char *string) {
    put_string(NULL, 1, 0, string);
    __mazurka_output('\n');
    return 1;
}

ssize_t write(int file, const void *buffer, size_t size) {
    if (!is_output(file))
        return __mazurka_write(file, buffer, size);
    for (size_t i = 0; i < size; i++)
        __mazurka_output(((const char *)buffer)[i]);
    return (ssize_t)size;
}

size_t fwrite(const void *restrict buffer, size_t size, size_t count, FILE *restrict stream) {
    int file = is_printed(stream) ? STDOUT_FILENO : stream_of(stream)->descriptor;
    if (write(file, buffer, size * count) < 0)
        return 0;
    return size ? count : 0;
}

void perror(const char *string) {
    if (string && *string) {
        put_string(NULL, 1, 0, string);
        put_string(NULL, 1, 0, ": ");
    }
    puts(strerror(errno));
}

/* Output is seen at once. */

int fflush(FILE *stream) {
    (void)stream;
    return 0;
}

void setbuf(FILE *restrict stream, char *restrict buffer) {
    (void)stream;
    (void)buffer;
}

int setvbuf(FILE *restrict stream, char *restrict buffer, int mode, size_t size) {
    (void)stream;
    (void)buffer;
    (void)mode;
    (void)size;
    return 0;
}
