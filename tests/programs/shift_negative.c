// expect: bug arithmetic
// line: 7
// message: shifted by -1
#include <stdint.h>

static uint32_t bit(int number) {
    return UINT32_C(1) << number;
}

int main(void) {
    volatile int number = -1;
    return (int)bit(number);
}
