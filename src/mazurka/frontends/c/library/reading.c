/* Reading from streams and strings. (Where inputs may be anything, inputs.c stands in its place.) */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"

extern FILE *const standard_input __asm__("stdin");

/* ------------------------------------------------------------------------------------------ characters and lines */

int fgetc(FILE *file) {
    struct stream *stream = stream_of(file);
    unsigned char byte = 0;
    __mazurka_atomic_begin();
    int result = stream->pushed_back - 1;
    if (result >= 0) {
        stream->pushed_back = 0;
    } else {
        long count = __mazurka_read(stream->descriptor, &byte, 1);
        if (count == 1)
            result = byte;
        else if (count == 0)
            stream->at_end = 1;
        else
            stream->failed = 1;
    }
    __mazurka_atomic_end();
    return result;
}

int getc(FILE *stream) { return fgetc(stream); }
int getc_unlocked(FILE *stream) { return fgetc(stream); }
int getchar(void) { return fgetc(standard_input); }
int getchar_unlocked(void) { return fgetc(standard_input); }

int ungetc(int byte, FILE *stream) {
    if (byte == EOF)
        return EOF;
    __mazurka_atomic_begin();
    stream_of(stream)->pushed_back = (unsigned char)byte + 1;
    stream_of(stream)->at_end = 0;
    __mazurka_atomic_end();
    return (unsigned char)byte;
}

char *fgets(char *restrict buffer, int size, FILE *restrict stream) {
    int count = 0, byte = 0;
    __mazurka_atomic_begin();
    while (count + 1 < size && (byte = fgetc(stream)) != EOF) {
        buffer[count++] = (char)byte;
        if (byte == '\n')
            break;
    }
    _Bool any = count > 0 || (size == 1 && byte != EOF);
    if (any)
        buffer[count] = 0;
    __mazurka_atomic_end();
    return any ? buffer : NULL;
}

size_t fread(void *restrict buffer, size_t size, size_t count, FILE *restrict stream) {
    size_t done = 0;
    int byte;
    __mazurka_atomic_begin();
    while (done < size * count && (byte = fgetc(stream)) != EOF)
        ((unsigned char *)buffer)[done++] = (unsigned char)byte;
    __mazurka_atomic_end();
    return size ? done / size : 0;
}

ssize_t getdelim(char **restrict line, size_t *restrict size, int delimiter, FILE *restrict stream) {
    size_t count = 0;
    int byte;
    while ((byte = fgetc(stream)) != EOF) {
        if (*line == NULL || count + 2 > *size) {
            size_t room = *line == NULL || *size < 60 ? 120 : 2 * *size;
            char *larger = realloc(*line, room);
            if (!larger)
                return -1;
            *line = larger;
            *size = room;
        }
        (*line)[count++] = (char)byte;
        if (byte == delimiter)
            break;
    }
    if (count == 0)
        return -1;
    (*line)[count] = 0;
    return (ssize_t)count;
}

ssize_t getline(char **restrict line, size_t *restrict size, FILE *restrict stream) {
    return getdelim(line, size, '\n', stream);
}

/* ---------------------------------------------------------------------------------------------------------- scanf */

/* Where characters come from: a string, or a stream. */
struct source {
    const char *text;
    FILE *stream;
    int count; /* read so far */
};

static int next(struct source *source) {
    int byte = source->stream ? fgetc(source->stream) : *source->text ? (unsigned char)*source->text++ : EOF;
    source->count += byte != EOF;
    return byte;
}

static void back(struct source *source, int byte) {
    if (byte == EOF)
        return;
    source->count--;
    if (source->stream)
        ungetc(byte, source->stream);
    else
        source->text--;
}

static int skip_space(struct source *source) {
    int byte;
    while ((byte = next(source)) != EOF && (isspace)(byte))
        ;
    back(source, byte);
    return byte;
}

static int digit_of(int byte) {
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 32;
    return byte >= 'a' && byte <= 'z' ? byte - 'a' + 10 : 99;
}

enum { MOST_DIGITS = 400 };

/* The longest text that can be the beginning of an integer; whether it is one. */
static _Bool read_integer(struct source *source, int width, int base, char *text, int *used_base) {
    int length = 0, digits = 0, byte = next(source);
    if (byte == '+' || byte == '-') {
        text[length++] = (char)byte;
        byte = next(source);
    }
    *used_base = base ? base : 10;
    if (byte == '0' && length < width) {
        text[length++] = '0';
        digits++;
        byte = next(source);
        if ((byte | 32) == 'x' && (base == 0 || base == 16) && length < width) {
            text[length++] = 'x';
            *used_base = 16; /* if nothing follows, it is a 0, as the C library has it */
            byte = next(source);
        } else if (base == 0) {
            *used_base = 8;
        }
    }
    for (; byte != EOF && digit_of(byte) < *used_base && length < width && length < MOST_DIGITS; byte = next(source)) {
        text[length++] = (char)byte;
        digits++;
    }
    back(source, byte);
    text[length] = 0;
    return digits > 0;
}

static _Bool read_word(struct source *source, int *byte, char *text, int *length, int width, const char *word) {
    for (; *word; word++) {
        if ((*byte | 32) != *word || *length >= width)
            return 0;
        text[(*length)++] = (char)*byte;
        *byte = next(source);
    }
    return 1;
}

static int read_digits(struct source *source, int *byte, char *text, int *length, int width, int base) {
    int digits = 0;
    for (; *byte != EOF && digit_of(*byte) < base && *length < width && *length < MOST_DIGITS; digits++) {
        text[(*length)++] = (char)*byte;
        *byte = next(source);
    }
    return digits;
}

static _Bool read_float(struct source *source, int width, char *text) {
    int length = 0, byte = next(source), base = 10, digits = 0;
    _Bool good = 0;
    if (byte == '+' || byte == '-') {
        text[length++] = (char)byte;
        byte = next(source);
    }
    if ((byte | 32) == 'i') {
        good = read_word(source, &byte, text, &length, width, "inf");
        if (good && (byte | 32) == 'i' && length < width)
            good = read_word(source, &byte, text, &length, width, "inity");
    } else if ((byte | 32) == 'n') {
        good = read_word(source, &byte, text, &length, width, "nan");
    } else {
        if (byte == '0' && length < width) {
            text[length++] = '0';
            digits++;
            byte = next(source);
            if ((byte | 32) == 'x' && length < width) {
                text[length++] = 'x';
                base = 16;
                digits = 0;
                byte = next(source);
            }
        }
        digits += read_digits(source, &byte, text, &length, width, base);
        if (byte == '.' && length < width) {
            text[length++] = '.';
            byte = next(source);
            digits += read_digits(source, &byte, text, &length, width, base);
        }
        good = digits > 0;
        if (good && (byte | 32) == (base == 16 ? 'p' : 'e') && length < width) {
            text[length++] = (char)byte;
            byte = next(source);
            if ((byte == '+' || byte == '-') && length < width) {
                text[length++] = (char)byte;
                byte = next(source);
            }
            read_digits(source, &byte, text, &length, width, 10); /* or none, as the C library has it */
        }
    }
    back(source, byte);
    text[length] = 0;
    return good;
}

static void store_integer(void *to, int length, unsigned long value) {
    switch (length) {
    case 'H':
        *(char *)to = (char)value;
        break;
    case 'h':
        *(short *)to = (short)value;
        break;
    case 'l':
        *(long *)to = (long)value;
        break;
    default:
        *(int *)to = (int)value;
    }
}

/* Which characters `%[...]` takes; what follows it. */
static const char *read_set(const char *format, _Bool *taken) {
    _Bool others = *format == '^';
    const char *first = format += others;
    for (int i = 0; i < 256; i++)
        taken[i] = others;
    for (; *format && (*format != ']' || format == first); format++) {
        unsigned char low = (unsigned char)*format, high = low;
        if (format[1] == '-' && format[2] && format[2] != ']') {
            high = (unsigned char)format[2];
            format += 2;
        }
        for (int c = low; c <= high; c++)
            taken[c] = !others;
    }
    return *format ? format + 1 : format;
}

static int scan(struct source *source, const char *format, va_list arguments) {
    int assigned = 0;
    for (; *format; format++) {
        if ((isspace)((unsigned char)*format)) {
            skip_space(source);
            continue;
        }
        if (*format != '%') {
            int byte = next(source);
            if (byte != (unsigned char)*format) {
                back(source, byte);
                return byte == EOF && !assigned ? EOF : assigned;
            }
            continue;
        }
        _Bool store = 1, allocate = 0;
        int width = 0, length = 0;
        if (*++format == '*') {
            store = 0;
            format++;
        }
        for (; *format >= '0' && *format <= '9'; format++)
            width = width * 10 + (*format - '0');
        if (*format == 'm') {
            allocate = 1;
            format++;
        }
        for (; strchr("hlLjztq", *format) && *format; format++)
            length = *format == 'h' ? (length == 'h' ? 'H' : 'h') : *format == 'L' ? 'L' : 'l';
        if (allocate || length == 'L')
            __mazurka_fail("limit", "scanf with %m or with L is not modelled");
        char conversion = *format;
        if (conversion == 'n') {
            if (store)
                store_integer(va_arg(arguments, void *), length, (unsigned long)source->count);
            continue;
        }
        if (conversion != 'c' && conversion != '[')
            skip_space(source);
        int byte = next(source);
        if (byte == EOF)
            return assigned ? assigned : EOF;
        if (conversion == '%') {
            if (byte != '%') {
                back(source, byte);
                return assigned;
            }
            continue;
        }
        back(source, byte);
        if (conversion == 's' || conversion == 'c' || conversion == '[') {
            _Bool taken[256];
            if (length)
                __mazurka_fail("limit", "scanf of wide characters is not modelled");
            if (conversion == '[')
                format = read_set(format + 1, taken) - 1;
            char *to = store ? va_arg(arguments, char *) : NULL;
            int most = width ? width : conversion == 'c' ? 1 : INT_MAX, count = 0;
            while (count < most && (byte = next(source)) != EOF) {
                if ((conversion == 's' && (isspace)(byte)) || (conversion == '[' && !taken[byte])) {
                    back(source, byte);
                    break;
                }
                if (to)
                    to[count] = (char)byte;
                count++;
            }
            if (count == 0 || (conversion == 'c' && count < most))
                return assigned;
            if (to && conversion != 'c')
                to[count] = 0;
            assigned += store;
            continue;
        }
        char text[MOST_DIGITS + 1];
        int most = width ? width : MOST_DIGITS, base = 10;
        if (strchr("aAeEfFgG", conversion)) {
            if (!read_float(source, most, text))
                return assigned;
            double value = strtod(text, NULL);
            if (store && length == 'l')
                *va_arg(arguments, double *) = value;
            else if (store)
                *va_arg(arguments, float *) = strtof(text, NULL);
            assigned += store;
            continue;
        }
        switch (conversion) {
        case 'd':
        case 'u':
            break;
        case 'i':
            base = 0;
            break;
        case 'o':
            base = 8;
            break;
        case 'x':
        case 'X':
            base = 16;
            break;
        case 'p':
            base = 16;
            length = 'l';
            break;
        default:
            __mazurka_fail("limit", "this conversion of scanf is not modelled");
        }
        if (!read_integer(source, most, base, text, &base))
            return assigned;
        unsigned long value = conversion == 'd' || conversion == 'i' ? (unsigned long)strtol(text, NULL, base)
                                                                     : strtoul(text, NULL, base);
        if (store)
            store_integer(va_arg(arguments, void *), length, value);
        assigned += store;
    }
    return assigned;
}

int vsscanf(const char *restrict text, const char *restrict format, va_list arguments) {
    struct source source = {text, NULL, 0};
    return scan(&source, format, arguments);
}

int vfscanf(FILE *restrict stream, const char *restrict format, va_list arguments) {
    struct source source = {NULL, stream, 0};
    __mazurka_atomic_begin();
    int result = scan(&source, format, arguments);
    __mazurka_atomic_end();
    return result;
}

int vscanf(const char *restrict format, va_list arguments) { return vfscanf(standard_input, format, arguments); }

#define SCANS(name, ...)                                                                                               \
    va_list arguments;                                                                                                 \
    va_start(arguments, format);                                                                                       \
    int result = name(__VA_ARGS__, format, arguments);                                                                 \
    va_end(arguments);                                                                                                 \
    return result

int sscanf(const char *restrict text, const char *restrict format, ...) { SCANS(vsscanf, text); }
int fscanf(FILE *restrict stream, const char *restrict format, ...) { SCANS(vfscanf, stream); }
int scanf(const char *restrict format, ...) { SCANS(vfscanf, standard_input); }
/* The header has given all of these names of its standard. Where it does not, programs call them by their own. */
#define ALSO(name, ...) int also_##name(__VA_ARGS__) __asm__(#name) __attribute__((alias("__isoc99_" #name)))

ALSO(vsscanf, const char *, const char *, va_list);
ALSO(vfscanf, FILE *, const char *, va_list);
ALSO(vscanf, const char *, va_list);
ALSO(sscanf, const char *, const char *, ...);
ALSO(fscanf, FILE *, const char *, ...);
ALSO(scanf, const char *, ...);
