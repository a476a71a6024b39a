// expect: bug memory
// line: 10
// message: free
#include <stdlib.h>

int main(void) {
    int *number = malloc(sizeof *number);
    *number = 1;
    free(number);
    return *number;
}
