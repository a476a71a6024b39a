// expect: bug memory
// line: 7
// message: align
int main(void) {
    char bytes[16] = {0};
    volatile int offset = 1;
    return *(int *)(void *)(bytes + offset);
}
