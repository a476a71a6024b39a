// expect: bug memory
// line: 19
// message: null pointer
// check: --failing-malloc
// Where memory may run out, `new` throws, and `new (std::nothrow)` gives null.
#include <new>

static bool careful() {
    try {
        int *one = new int(3), *several = new int[4];
        delete one;
        delete[] several;
        return true;
    } catch (const std::bad_alloc &) {
        return false;
    }
}

int main() { careful(), delete &(*new (std::nothrow) int = 4); }
