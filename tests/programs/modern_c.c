// expect: ok
// _Generic, compound literals, variable-length arrays, statement expressions, anonymous members, inline functions.
#include <assert.h>
#include <stddef.h>
#include <string.h>

#define NAME_OF(x) _Generic((x), int: "int", double: "double", char *: "string", default: "other")

_Static_assert(sizeof(int) == 4, "as everywhere");

enum colour { RED = 3, GREEN, BLUE = -1 };

struct shape {
    enum { CIRCLE, BOX } kind;
    union {
        struct {
            int radius;
        };
        struct {
            int width, height;
        };
    };
};

static inline int area(const struct shape *shape) {
    return shape->kind == CIRCLE ? 3 * shape->radius * shape->radius : shape->width * shape->height;
}

static int sum_squares(int n) {
    int squares[n];
    for (int i = 0; i < n; i++)
        squares[i] = i * i;
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += squares[i];
    return sum + (int)(sizeof squares / sizeof squares[0]);
}

static int counter(void) {
    static int calls = 10;
    return calls++;
}

struct list {
    size_t count;
    int items[];
};

int main(void) {
    assert(strcmp(NAME_OF(1), "int") == 0 && strcmp(NAME_OF(1.0), "double") == 0 && strcmp(NAME_OF(1u), "other") == 0);
    assert(area(&(struct shape){CIRCLE, .radius = 2}) == 12);
    assert(area(&(struct shape){BOX, {.width = 2, .height = 5}}) == 10);
    assert(sum_squares(5) == 35 && sum_squares(1) == 1);
    int largest = ({
        int a = counter(), b = counter();
        a > b ? a : b;
    });
    assert(largest == 11 && counter() == 12);
    enum colour colour = GREEN;
    assert(colour == 4 && BLUE < RED && __func__[0] == 'm');
    int *parts = (int[]){1, 2, 3};
    assert(parts[2] == 3 && (char){'x'} == 'x');
    union {
        char bytes[32];
        struct list list;
    } storage = {.list = {.count = 2}};
    storage.list.items[1] = 8;
    assert(storage.list.count == 2 && storage.bytes[12] == 8);
    return 0;
}
