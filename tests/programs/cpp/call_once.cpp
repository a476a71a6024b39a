// expect: ok
// facility: `call_once`
// Whoever is first initialises, the others wait for it.
#include <cassert>
#include <mutex>
#include <thread>

std::once_flag flag;
int made;

static void use() {
    std::call_once(flag, [] { made++; });
    assert(made == 1);
}

int main() {
    std::thread first(use), second(use);
    first.join();
    second.join();
}
