// expect: ok
// check: --nondet=-2..3
// traces: 96
// Each input is any number of the range that its type has.
#include <assert.h>
#include <stdlib.h>

int __VERIFIER_nondet_int(void);
unsigned char __VERIFIER_nondet_uchar(void);

int main(void) {
    int number = __VERIFIER_nondet_int();
    int positive = __VERIFIER_nondet_uchar();
    assert(number >= -2 && number <= 3 && positive >= 0 && positive <= 3);
    srand(1);
    assert(rand() <= 3);
    return 0;
}
