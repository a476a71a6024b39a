// expect: bug assertion
// line: 11
// facility: `call_once`
// Each thread has a flag of its own: once for each of them.
#include <cassert>
#include <mutex>
#include <thread>

std::atomic<int> made;

static void use() { std::once_flag flag; std::call_once(flag, [] { made++; }); assert(made == 1); }

int main() {
    std::thread first(use), second(use);
    first.join();
    second.join();
}
