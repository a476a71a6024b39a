// expect: ok
// traces: 1
// Functions that throw, whatever they return and take: several registers, memory, extra arguments; recursion.
#include <cassert>
#include <cstdarg>

struct Pair {
    long a, b;
};
struct Big {
    long v[5];
};
struct Mixed {
    double d;
    int i;
};

static Pair pair(int n) {
    if (n < 0)
        throw n;
    return {n, n + 1};
}

static Big big(int n) {
    if (n < 0)
        throw n;
    return {{n, 1, 2, 3, 4}};
}

static Mixed mixed(int n) {
    if (n == 7)
        throw n;
    return {n * 0.5, n};
}

static int sum(int count, ...) {
    va_list list;
    va_start(list, count);
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += va_arg(list, int);
    va_end(list);
    return sum > 10 ? throw sum : sum;
}

static long use(int n) {
    long result = 0;
    try {
        Pair p = pair(n);
        result += p.a + p.b;
        result += big(n).v[0];
        Mixed m = mixed(n);
        result += static_cast<long>(m.d) + m.i;
    } catch (int thrown) {
        result += thrown * 100;
    }
    return result;
}

static int factorial(int n) {
    if (n == 0)
        throw 1;
    try {
        return factorial(n - 1);
    } catch (int product) {
        if (n < 5)
            throw product * n;
        return product * n;
    }
}

int main() {
    assert(use(4) == 4 + 5 + 4 + 2 + 4);
    assert(use(7) == 7 + 8 + 7 + 700);
    assert(use(-1) == -100);
    try {
        assert(sum(3, 1, 2, 3) == 6);
        sum(2, 5, 6);
        assert(false);
    } catch (int thrown) {
        assert(thrown == 11);
    }
    assert(factorial(5) == 120);
}
