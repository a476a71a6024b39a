// expect: ok
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    unsigned char bytes[40], copy[40];
    for (int i = 0; i < 40; i++)
        bytes[i] = (unsigned char)i;
    memcpy(copy, bytes, sizeof copy);
    assert(memcmp(copy, bytes, 40) == 0);
    memmove(bytes + 3, bytes, 30);
    assert(bytes[2] == 2 && bytes[3] == 0 && bytes[32] == 29 && bytes[33] == 33);
    memcpy(bytes, copy, 40);
    memmove(bytes, bytes + 3, 30);
    assert(bytes[0] == 3 && bytes[29] == 32 && bytes[30] == 30);
    memmove(bytes, bytes, 40);
    memset(bytes + 1, 0xab, 21);
    assert(bytes[0] == 3 && bytes[1] == 0xab && bytes[21] == 0xab && bytes[22] == 25);
    assert(memcmp("abc", "abd", 3) < 0 && memcmp("b", "a", 1) > 0 && memcmp("x", "y", 0) == 0);
    assert(mempcpy(copy, "xyz", 3) == copy + 3 && copy[2] == 'z');

    int *numbers = calloc(4, sizeof *numbers);
    assert(numbers[0] == 0 && numbers[3] == 0);
    numbers[3] = 7;
    numbers = realloc(numbers, 100 * sizeof *numbers);
    assert(numbers[3] == 7 && numbers[0] == 0);
    numbers = realloc(numbers, 4 * sizeof *numbers);
    assert(numbers[3] == 7);
    numbers = reallocarray(numbers, 2, sizeof *numbers);
    free(numbers);
    numbers = realloc(NULL, 4);
    *numbers = 1;
    free(numbers);
    free(NULL);
    volatile size_t huge = SIZE_MAX;
    errno = 0;
    assert(calloc(huge, 16) == NULL && errno == ENOMEM);
    assert(malloc(huge) == NULL);
    void *block = aligned_alloc(256, 512);
    assert((uintptr_t)block % 256 == 0);
    free(block);
    assert(posix_memalign(&block, 64, 10) == 0 && (uintptr_t)block % 64 == 0 && malloc_usable_size(block) >= 10);
    free(block);
    assert(posix_memalign(&block, 3, 10) == EINVAL);
    char *empty = malloc(0);
    free(empty);
    return 0;
}
