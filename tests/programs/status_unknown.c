// expect: bug memory
// message: the status that the program exits with depends on memory that was never written
#include <stdlib.h>

int main(void) {
    int *status = malloc(sizeof *status);
    return *status;
}
