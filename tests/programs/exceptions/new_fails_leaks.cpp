// expect: bug memory
// line: 9
// message: memory leak
// check: --failing-malloc --leaks
#include <new>

int main() {
    try {
        int *one = new int(3);
        int *two = new int(4);
        delete one;
        delete two;
    } catch (const std::bad_alloc &) {
    }
}
