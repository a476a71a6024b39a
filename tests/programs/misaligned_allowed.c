// expect: ok
// check: --no-alignment
#include <assert.h>
#include <string.h>

int main(void) {
    char bytes[24] = {0};
    volatile int offset = 5;
    *(long *)(void *)(bytes + offset) = 0x0102030405060708;
    long copy;
    memcpy(&copy, bytes + offset, sizeof copy);
    assert(copy == *(long *)(void *)(bytes + offset) && bytes[5] == 8 && bytes[12] == 1);
    return 0;
}
