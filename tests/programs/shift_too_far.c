// expect: bug arithmetic
// line: 6
// message: a number of 32 bits is shifted by 32
int main(void) {
    volatile unsigned word = 7, count = 32;
    unsigned high = word >> count;
    return high != 0;
}
