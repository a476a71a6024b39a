// expect: ok
#include <assert.h>

static unsigned ackermann(unsigned m, unsigned n) {
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

static int is_odd(int n);
static int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }
static int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }

static int queens(int row, unsigned columns, unsigned left, unsigned right) {
    enum { N = 5 };
    int count = 0;
    if (row == N)
        return 1;
    for (unsigned free = ~(columns | left | right) & ((1u << N) - 1); free; free &= free - 1) {
        unsigned bit = free & -free;
        count += queens(row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return count;
}

int main(void) {
    assert(ackermann(2, 3) == 9 && is_even(20) && !is_even(7) && queens(0, 0, 0, 0) == 10);
    return 0;
}
