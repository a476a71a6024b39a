// expect: bug exit
// Only 8 bits of the status count, so that a difference may be lost; what is found is one that is not.
#include <string.h>

int main(void) {
    return strcmp("a", "b");
}
