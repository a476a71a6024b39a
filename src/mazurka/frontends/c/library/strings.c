/* Strings, byte by byte, in the C locale. */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mazurka.h"

size_t strlen(const char *string) {
    size_t length = 0;
    while (string[length])
        length++;
    return length;
}

size_t strnlen(const char *string, size_t most) {
    size_t length = 0;
    while (length < most && string[length])
        length++;
    return length;
}

/* Of these, only the sign of the result is known: what they return wraps it. */

static int compare(const char *left, const char *right, size_t most) {
    for (size_t i = 0; i < most; i++) {
        unsigned char a = (unsigned char)left[i], b = (unsigned char)right[i];
        if (a != b)
            return a < b ? -1 : 1;
        if (a == 0)
            break;
    }
    return 0;
}

int strncmp(const char *left, const char *right, size_t most) {
    return __mazurka_any_of_sign(compare(left, right, most));
}

int strcmp(const char *left, const char *right) { return __mazurka_any_of_sign(compare(left, right, SIZE_MAX)); }

int strcoll(const char *left, const char *right) { return __mazurka_any_of_sign(compare(left, right, SIZE_MAX)); }

static int compare_letters(const char *left, const char *right, size_t most) {
    for (size_t i = 0; i < most; i++) {
        int a = tolower((unsigned char)left[i]), b = tolower((unsigned char)right[i]);
        if (a != b)
            return a - b;
        if (a == 0)
            break;
    }
    return 0;
}

int strncasecmp(const char *left, const char *right, size_t most) {
    return __mazurka_any_of_sign(compare_letters(left, right, most));
}

int strcasecmp(const char *left, const char *right) {
    return __mazurka_any_of_sign(compare_letters(left, right, SIZE_MAX));
}

char *stpcpy(char *restrict to, const char *restrict from) {
    for (;; to++, from++) {
        char byte = *from;
        *to = byte;
        if (byte == 0)
            return to;
    }
}

char *strcpy(char *restrict to, const char *restrict from) {
    stpcpy(to, from);
    return to;
}

char *stpncpy(char *restrict to, const char *restrict from, size_t size) {
    size_t length = 0;
    for (; length < size; length++) {
        char byte = from[length];
        if (byte == 0)
            break;
        to[length] = byte;
    }
    for (size_t i = length; i < size; i++)
        to[i] = 0;
    return to + length;
}

char *strncpy(char *restrict to, const char *restrict from, size_t size) {
    stpncpy(to, from, size);
    return to;
}

char *strcat(char *restrict to, const char *restrict from) {
    stpcpy(to + strlen(to), from);
    return to;
}

char *strncat(char *restrict to, const char *restrict from, size_t most) {
    char *end = to + strlen(to);
    for (; most > 0; most--, end++, from++) {
        char byte = *from;
        if (byte == 0)
            break;
        *end = byte;
    }
    *end = 0;
    return to;
}

char *strchrnul(const char *string, int byte) {
    for (;; string++) {
        char c = *string;
        if (c == (char)byte || c == 0)
            return (char *)string;
    }
}

char *strchr(const char *string, int byte) {
    for (;; string++) {
        char c = *string;
        if (c == (char)byte)
            return (char *)string;
        if (c == 0)
            return NULL;
    }
}

char *strrchr(const char *string, int byte) {
    const char *last = NULL;
    for (;; string++) {
        char c = *string;
        if (c == (char)byte)
            last = string;
        if (c == 0)
            return (char *)last;
    }
}

char *index(const char *string, int byte) { return strchr(string, byte); }

char *rindex(const char *string, int byte) { return strrchr(string, byte); }

char *strstr(const char *string, const char *wanted) {
    size_t length = strlen(wanted);
    for (;; string++) {
        if (strncmp(string, wanted, length) == 0)
            return (char *)string;
        if (*string == 0)
            return NULL;
    }
}

static size_t span(const char *string, const char *set, _Bool inside) {
    size_t length = 0;
    for (;; length++) {
        char c = string[length];
        if (c == 0 || (strchr(set, c) != NULL) != inside)
            return length;
    }
}

size_t strspn(const char *string, const char *set) { return span(string, set, 1); }

size_t strcspn(const char *string, const char *set) { return span(string, set, 0); }

char *strpbrk(const char *string, const char *set) {
    string += strcspn(string, set);
    return *string ? (char *)string : NULL;
}

char *strtok_r(char *restrict string, const char *restrict delimiters, char **restrict rest) {
    char *start = string ? string : *rest;
    start += strspn(start, delimiters);
    if (*start == 0) {
        *rest = start;
        return NULL;
    }
    char *end = start + strcspn(start, delimiters);
    if (*end)
        *end++ = 0;
    *rest = end;
    return start;
}

/* Its hidden state is shared, so that two threads that use it get in each other's way, as they really do. */
char *strtok(char *restrict string, const char *restrict delimiters) {
    static char *rest;
    return strtok_r(string, delimiters, &rest);
}

char *strndup(const char *string, size_t most) {
    size_t length = strnlen(string, most);
    char *copy = malloc(length + 1);
    if (copy) {
        for (size_t i = 0; i < length; i++)
            copy[i] = string[i];
        copy[length] = 0;
    }
    return copy;
}

char *strdup(const char *string) { return strndup(string, SIZE_MAX - 1); }

/* The names of the errors that the models give. */
char *strerror(int error) {
    switch (error) {
    case 0:
        return "Success";
    case EPERM:
        return "Operation not permitted";
    case ENOENT:
        return "No such file or directory";
    case ESRCH:
        return "No such process";
    case EINTR:
        return "Interrupted system call";
    case EAGAIN:
        return "Resource temporarily unavailable";
    case ENOMEM:
        return "Cannot allocate memory";
    case EBUSY:
        return "Device or resource busy";
    case EINVAL:
        return "Invalid argument";
    case EDOM:
        return "Numerical argument out of domain";
    case ERANGE:
        return "Numerical result out of range";
    case EDEADLK:
        return "Resource deadlock avoided";
    case EOVERFLOW:
        return "Value too large for defined data type";
    case ETIMEDOUT:
        return "Connection timed out";
    default:
        return "Unknown error";
    }
}

/* The GNU form, which may leave the buffer alone. */
char *own_strerror_r(int error, char *buffer, size_t size) __asm__("strerror_r");
char *own_strerror_r(int error, char *buffer, size_t size) {
    (void)buffer;
    (void)size;
    return strerror(error);
}
