// expect: ok
// traces: 16
// check: --failing-malloc
// Each of the ways to get memory may fail, and what was there before stays.
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

int main(void) {
    int *numbers = malloc(4 * sizeof *numbers);
    if (numbers == NULL) {
        assert(errno == ENOMEM);
        numbers = NULL;
    } else {
        numbers[3] = 7;
    }
    int *more = calloc(2, 8);
    assert(more == NULL || more[3] == 0);
    free(more);
    if (numbers) {
        int *larger = realloc(numbers, 8 * sizeof *numbers);
        if (larger)
            numbers = larger;
        assert(numbers[3] == 7);
    } else {
        free(aligned_alloc(64, 64));
    }
    void *page = &numbers;
    int result = posix_memalign(&page, 64, 128);
    assert(result == 0 || (result == ENOMEM && page == &numbers));
    if (result == 0)
        free(page);
    free(numbers);
    return 0;
}
