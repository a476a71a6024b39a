// expect: ok
// check: --no-overflow
#include <assert.h>
#include <limits.h>

int main(void) {
    volatile int most = INT_MAX, bits = 32;
    assert(most + 1 == INT_MIN && most * 2 == -2 && INT_MIN - most == 1);
    assert(1 << bits == 0);
    return 0;
}
