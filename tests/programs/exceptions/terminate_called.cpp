// expect: bug abort
// line: 7
// message: std::terminate was called
#include <exception>

int main() {
    std::terminate();
}
