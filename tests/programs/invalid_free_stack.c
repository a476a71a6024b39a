// expect: bug memory
// line: 8
#include <stdlib.h>

int main(void) {
    int local = 0;
    int *address = &local;
    free(address);
    return local;
}
