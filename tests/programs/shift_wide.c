// expect: bug arithmetic
// line: 10
// message: a number of 32 bits is shifted by a negative number or by far too much
// The compiler looks at the lower half of the number of bits only. A conversion that is written down does, too, but
// what it gives is in range.
int main(void) {
    volatile int number = 1;
    volatile long bits = 1L << 32;
    number <<= (int)bits;
    number <<= bits;
    return number - 1;
}
