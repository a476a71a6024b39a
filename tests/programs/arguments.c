// expect: ok
// args: alpha 42
#include <assert.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    assert(argc == 3 && argv[0] != NULL && argv[argc] == NULL);
    assert(strcmp(argv[1], "alpha") == 0 && atoi(argv[2]) == 42);
    argv[1][0] = 'A';
    assert(argv[1][0] == 'A');
    return 0;
}
