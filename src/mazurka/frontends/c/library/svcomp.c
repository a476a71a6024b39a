/* The functions that programs of the SV-COMP collection call. Nondeterministic values of a whole type have too many
 * possibilities to try; a range that the program states has not. */
#include "mazurka.h"

void __VERIFIER_atomic_begin(void) { __mazurka_atomic_begin(); }

void __VERIFIER_atomic_end(void) { __mazurka_atomic_end(); }

_Bool __VERIFIER_nondet_bool(void) { return __mazurka_choose(2) != 0; }

int __VERIFIER_nondet_range(int low, int high) {
    __mazurka_assume(low <= high);
    unsigned count = (unsigned)high - (unsigned)low + 1;
    if (count == 0) /* every int there is, which are more than one choice can have */
        return (int)(__mazurka_choose(1u << 16) << 16 | __mazurka_choose(1u << 16));
    return (int)((unsigned)low + __mazurka_choose(count));
}

void reach_error(void) { __mazurka_fail("assertion", "reach_error was called"); }

void __VERIFIER_error(void) { __mazurka_fail("assertion", "__VERIFIER_error was called"); }
