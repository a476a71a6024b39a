/* System calls by their numbers. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mazurka.h"

long __mazurka_futex(uint32_t *word, int operation, uint32_t value, const void *fourth, uint32_t *second,
                     uint32_t third_value);

long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    if (number == SYS_futex) {
        uint32_t *word = va_arg(list, uint32_t *);
        int operation = va_arg(list, int);
        uint32_t value = va_arg(list, uint32_t);
        const void *fourth = va_arg(list, const void *);
        return __mazurka_futex(word, operation, value, fourth, va_arg(list, uint32_t *), va_arg(list, uint32_t));
    }
    if (number == SYS_gettid)
        return gettid();
    __mazurka_fail("limit", "only futex and gettid are modelled of the system calls by number");
}
