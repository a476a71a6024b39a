// expect: bug assertion
// line: 14
// facility: `chrono`
// A program that hopes to be fast enough.
#include <cassert>
#include <chrono>

int main() {
    using namespace std::chrono;
    auto deadline = steady_clock::now() + 100ms;
    int work = 0;
    for (int i = 0; i < 3; i++)
        work += i;
    assert(steady_clock::now() < deadline);
}
