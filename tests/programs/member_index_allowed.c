// expect: ok
// check: --no-member-bounds
#include <assert.h>

struct numbers {
    int first[2], second[2];
};

int main(void) {
    struct numbers numbers = {{1, 2}, {3, 4}};
    volatile int at = 3;
    assert(numbers.first[at] == 4);
    return 0;
}
