// expect: ok
// Structures by value: small ones in registers, large ones in memory, nested, in arrays.
#include <assert.h>
#include <stddef.h>

struct pair {
    int a, b;
};
struct mixed {
    double d;
    long l;
};
struct floats {
    float x, y, z;
};
struct large {
    int numbers[10];
    struct pair pair;
};
struct tiny {
    char c[3];
};

static struct pair swap(struct pair p) { return (struct pair){p.b, p.a}; }

static struct mixed mix(struct mixed m, int times) {
    m.d *= times;
    m.l *= times;
    return m;
}

static struct floats scale(struct floats f, float by) { return (struct floats){f.x * by, f.y * by, f.z * by}; }

static struct large fill(struct large value, int with) {
    for (int i = 0; i < 10; i++)
        value.numbers[i] += with + i;
    value.pair = swap(value.pair);
    return value;
}

static struct tiny turn(struct tiny t) { return (struct tiny){{t.c[2], t.c[1], t.c[0]}}; }

int main(void) {
    struct pair p = swap((struct pair){1, 2});
    assert(p.a == 2 && p.b == 1);
    struct mixed m = mix((struct mixed){1.5, -4}, 3);
    assert(m.d == 4.5 && m.l == -12);
    struct floats f = scale((struct floats){1, 2, 3}, 2);
    assert(f.x == 2 && f.y == 4 && f.z == 6);
    struct large before = {.numbers = {[9] = 5}, .pair = {7, 8}};
    struct large after = fill(before, 100);
    assert(after.numbers[0] == 100 && after.numbers[9] == 114 && before.numbers[9] == 5);
    assert(after.pair.a == 8 && after.pair.b == 7 && before.pair.a == 7);
    struct tiny t = turn((struct tiny){"abc"});
    assert(t.c[0] == 'c' && t.c[1] == 'b' && t.c[2] == 'a');
    struct large many[2] = {before, after};
    many[0] = many[1];
    assert(many[0].pair.a == 8 && offsetof(struct large, pair) == 40 && sizeof many == 96);
    return 0;
}
