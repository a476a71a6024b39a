// expect: bug assertion
// check: --nondet=0..9
// line: 10
#include <assert.h>

int __VERIFIER_nondet_int(void);

int main(void) {
    int number = __VERIFIER_nondet_int();
    assert(number * number != 49);
    return 0;
}
