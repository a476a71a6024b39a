// expect: ok
// check: --compat=svcomp --nondet=-3..3
// As programs of the SV-COMP collection assume things.
#include <stdlib.h>

void assume_abort_if_not(int condition) {
    if (!condition)
        abort();
}

int main(void) {
    int number = __VERIFIER_nondet_int();
    assume_abort_if_not(number > 0);
    if (number <= 0)
        reach_error();
    return 0;
}
