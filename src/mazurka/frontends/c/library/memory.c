/* The heap, and moving bytes about.
 *
 * Memory does not run out, unless it is asked that it may; a size that no machine has gives null, as everywhere. Every object starts at a multiple of
 * 64 MiB, so that every alignment is as good as given.
 *
 * Copying is a sequence of accesses, each an event of its own if others can see the memory: a copy of something that
 * changes meanwhile can be torn between any two units. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "copy.h"

static void *allocate(size_t size, _Bool zeroed) {
    if (size > PTRDIFF_MAX) {
        errno = ENOMEM;
        return NULL;
    }
    if (__mazurka_leeway("failing_malloc")) {
        if (__mazurka_choose(2)) {
            errno = ENOMEM;
            return NULL;
        }
    }
    return zeroed ? __mazurka_allocate(size, 1) : __mazurka_allocate(size, 0);
}

void *malloc(size_t size) { return allocate(size, 0); }

void *calloc(size_t count, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        total = SIZE_MAX;
    return allocate(total, 1);
}

void free(void *block) { __mazurka_free(block); }

/* One step: an access of another thread that falls between copying and freeing is a use of freed memory when it comes
 * after, and that order is explored as well. */
void *realloc(void *block, size_t size) {
    if (block == NULL)
        return malloc(size);
    if (size == 0) {
        free(block);
        return NULL;
    }
    void *bigger = malloc(size);
    if (bigger) {
        __mazurka_atomic_begin();
        size_t old_size = __mazurka_block_size(block);
        __mazurka_copy(bigger, block, old_size < size ? old_size : size, 0);
        __mazurka_free(block);
        __mazurka_atomic_end();
    }
    return bigger;
}

void *reallocarray(void *block, size_t count, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, total);
}

void *aligned_alloc(size_t alignment, size_t size) {
    if (alignment == 0 || alignment & (alignment - 1)) {
        errno = EINVAL;
        return NULL;
    }
    return malloc(size);
}

void *memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) || alignment == 0 || alignment & (alignment - 1))
        return EINVAL;
    void *allocated = malloc(size);
    if (allocated == NULL)
        return ENOMEM;
    *block = allocated;
    return 0;
}

size_t malloc_usable_size(void *block) { return block ? __mazurka_block_size(block) : 0; }

/* Copies by units of `unit` bytes: what is left goes in smaller ones. The functions are what the front end calls for
 * large copies, with the alignment that it knows of as the unit, or 0 for none in particular. */

static uint64_t unit_for(const void *left, const void *right, uint64_t unit) {
    if (unit)
        return unit;
    return ((uintptr_t)left & 7) == 0 && ((uintptr_t)right & 7) == 0 ? 8 : 1;
}

static void copy_unit(char *to, const char *from, uint64_t unit) {
    switch (unit) {
    case 8:
        *(uint64_t *)to = *(const uint64_t *)from;
        break;
    case 4:
        *(uint32_t *)to = *(const uint32_t *)from;
        break;
    case 2:
        *(uint16_t *)to = *(const uint16_t *)from;
        break;
    default:
        *to = *from;
    }
}

static void copy_upwards(char *to, const char *from, uint64_t size, uint64_t unit) {
    uint64_t at = 0;
    for (; unit > 0; unit >>= 1)
        for (; size - at >= unit; at += unit)
            copy_unit(to + at, from + at, unit);
}

/* Cuts into the same units, the last first. */
static void copy_downwards(char *to, const char *from, uint64_t size, uint64_t unit) {
    uint64_t at = size;
    for (uint64_t small = 1; small < unit; small <<= 1)
        if (at & small) {
            at -= small;
            copy_unit(to + at, from + at, small);
        }
    while (at > 0) {
        at -= unit;
        copy_unit(to + at, from + at, unit);
    }
}

/* Whether `left` lies less than `size` bytes behind `right`, in the same object. The lowest bits of an address say where
 * in its object it is. Nothing else of it is looked at as a number: which object that is, is a name. */
static _Bool follows_closely(const void *left, const void *right, uint64_t size) {
    const uintptr_t where = ((uintptr_t)1 << MAZURKA_OFFSET_BITS) - 1;
    return ((uintptr_t)left & ~where) == ((uintptr_t)right & ~where) &&
           ((uintptr_t)left & where) - ((uintptr_t)right & where) < size;
}

void __mazurka_copy(void *to, const void *from, uint64_t size, uint64_t unit) {
    if (to != from && (follows_closely(to, from, size) || follows_closely(from, to, size)))
        __mazurka_fail("memory", "copying between overlapping memory, for which memmove is made");
    copy_upwards(to, from, size, unit_for(to, from, unit));
}

void __mazurka_move(void *to, const void *from, uint64_t size, uint64_t unit) {
    if (follows_closely(to, from, size))
        copy_downwards(to, from, size, unit_for(to, from, unit));
    else
        copy_upwards(to, from, size, unit_for(to, from, unit));
}

void __mazurka_fill(void *to, uint64_t byte, uint64_t size) {
    char *at = to;
    uint64_t word = (byte & 255) * 0x0101010101010101;
    if (((uintptr_t)to & 7) == 0)
        for (; size >= 8; size -= 8, at += 8)
            *(uint64_t *)at = word;
    for (; size > 0; size--, at++)
        *at = (char)byte;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    __mazurka_copy(to, from, size, 0);
    return to;
}

void *mempcpy(void *restrict to, const void *restrict from, size_t size) {
    __mazurka_copy(to, from, size, 0);
    return (char *)to + size;
}

void *memmove(void *to, const void *from, size_t size) {
    __mazurka_move(to, from, size, 0);
    return to;
}

void bcopy(const void *from, void *to, size_t size) { __mazurka_move(to, from, size, 0); }

void *memset(void *to, int byte, size_t size) {
    __mazurka_fill(to, (uint64_t)byte, size);
    return to;
}

void bzero(void *to, size_t size) { __mazurka_fill(to, 0, size); }

static int compare(const void *left, const void *right, size_t size) {
    const unsigned char *a = left, *b = right;
    for (size_t i = 0; i < size; i++) {
        unsigned char x = a[i], y = b[i];
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

int memcmp(const void *left, const void *right, size_t size) {
    return __mazurka_any_of_sign(compare(left, right, size));
}

int bcmp(const void *left, const void *right, size_t size) { return __mazurka_any_of_sign(compare(left, right, size)); }

void *memchr(const void *memory, int byte, size_t size) {
    const unsigned char *bytes = memory;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] == (unsigned char)byte)
            return (void *)(bytes + i);
    return NULL;
}

void *memrchr(const void *memory, int byte, size_t size) {
    const unsigned char *bytes = memory;
    while (size-- > 0)
        if (bytes[size] == (unsigned char)byte)
            return (void *)(bytes + size);
    return NULL;
}
