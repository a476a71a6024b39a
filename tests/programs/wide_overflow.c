// expect: bug arithmetic
// line: 6
// message: 128-bit
int main(void) {
    __int128 largest = ~((__int128)1 << 126 << 1);
    largest += 1;
    return 0;
}
