// expect: ok
// facility: `thread_local` objects
// Objects that each thread makes when it first needs them, and destroys when it ends.
#include <atomic>
#include <cassert>
#include <string>
#include <thread>

std::atomic<int> alive;

struct Counted {
    std::string name = "a name that needs memory of its own, for each of them";
    Counted() { alive++; }
    ~Counted() { alive--; }
};

thread_local Counted counted;
thread_local int uses;

static void use() {
    uses++;
    assert(uses == 1 && !counted.name.empty() && alive >= 1);
}

int main() {
    std::thread other(use);
    other.join();
    assert(alive == 0);
    use();
    assert(alive == 1);
}
