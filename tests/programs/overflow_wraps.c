// expect: ok
// options: -fwrapv
#include <assert.h>
#include <limits.h>

int main(void) {
    volatile int most = INT_MAX;
    assert(most + 1 == INT_MIN && -(most + 1) == INT_MIN);
    return 0;
}
