// expect: bug memory
// line: 8
// strcpy needs room for the end of the string.
#include <string.h>

int main(void) {
    char small[4];
    strcpy(small, "four");
    return 0;
}
