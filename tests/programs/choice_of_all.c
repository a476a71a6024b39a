// expect: bug assertion
// line: 10
// The range of all integers is not an empty one.
#include <assert.h>
#include <limits.h>

int __VERIFIER_nondet_range(int low, int high);

int main(void) {
    assert(__VERIFIER_nondet_range(INT_MIN, INT_MAX) == 5);
    return 0;
}
