// expect: bug arithmetic
// line: 7
#include <limits.h>

int main(void) {
    volatile int least = INT_MIN, minus = -1;
    return least / minus;
}
