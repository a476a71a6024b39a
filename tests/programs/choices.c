// expect: ok
// Nondeterministic values: all of a small range are tried; an assume throws away the uninteresting ones.
#include <assert.h>
#include <stdbool.h>

_Bool __VERIFIER_nondet_bool(void);
int __VERIFIER_nondet_range(int, int);
void __VERIFIER_assume(int);

int main(void) {
    int a = __VERIFIER_nondet_range(-2, 2);
    int b = __VERIFIER_nondet_range(1, 3);
    bool negate = __VERIFIER_nondet_bool();
    assert(a >= -2 && a <= 2 && b >= 1 && b <= 3);
    __VERIFIER_assume(a != 0);
    int c = negate ? -a : a;
    assert(c != 0 && c * b <= 6);
    return 0;
}
