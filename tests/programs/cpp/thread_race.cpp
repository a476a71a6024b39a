// expect: bug assertion
// line: 14
// facility: `thread`, `vector` of threads
// Two threads count without a lock.
#include <cassert>
#include <thread>

int main() {
    int counter = 0;
    auto count = [&counter] { counter++; };
    std::thread first(count), second(count);
    first.join();
    second.join();
    assert(counter == 2);
}
