// expect: bug arithmetic
// line: 9
// message: 0 - (-2147483648) does not fit 32 bits
#include <limits.h>
#include <stdlib.h>

int main(void) {
    volatile int least = INT_MIN;
    return abs(least + 1) == INT_MAX ? abs(least) == 0 : 1;
}
