// expect: bug assertion
// line: 11
// The one value out of ten that breaks it.
#include <assert.h>

int __VERIFIER_nondet_range(int, int);

int main(void) {
    int x = __VERIFIER_nondet_range(0, 9);
    int y = __VERIFIER_nondet_range(0, 9);
    assert(x * x + y != 57 || x != 7);
    return 0;
}
