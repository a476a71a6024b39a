// expect: ok
// Arithmetic on pointers, arrays of arrays, pointers to pointers and to functions.
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

static int matrix[3][4];
static int *rows[3] = {matrix[0], matrix[1], matrix[2]};
static int *const last = &matrix[2][3];
static int (*const whole)[4] = matrix;
static const char *const words[] = {"one", "two", "three", NULL};

static int twice(int x) { return 2 * x; }
static int (*choose(int which))(int) { return which ? twice : NULL; }

static void advance(const char *const **at) { ++*at; }

int main(void) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            matrix[i][j] = 10 * i + j;
    assert(rows[1][2] == 12 && *last == 23 && (*(whole + 2))[1] == 21 && *(*(matrix + 1) + 3) == 13);
    int *from = &matrix[0][1], *to = &matrix[2][0];
    assert(to - from == 7 && from < to && from + 7 == to && *(to - 1) == 13);
    const char *const *at = words;
    size_t letters = 0;
    for (; *at; advance(&at))
        for (const char *c = *at; *c; c++)
            letters++;
    assert(letters == 11 && at - words == 3);
    uintptr_t number = (uintptr_t)from;
    assert(*(int *)(number + sizeof(int)) == 2);
    assert(choose(1)(21) == 42 && choose(0) == NULL && choose(1) == &twice);
    void *any = &matrix;
    assert(((int *)any)[11] == 23 && 2 [matrix[1]] == 12);
    return 0;
}
