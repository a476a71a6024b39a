// expect: bug memory
// line: 8
#include <stdlib.h>

int main(void) {
    int *numbers = malloc(3 * sizeof *numbers);
    for (int i = 0; i <= 3; i++)
        numbers[i] = i;
    free(numbers);
    return 0;
}
