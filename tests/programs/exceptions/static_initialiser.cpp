// expect: ok
// An initialiser of a static variable that throws is tried again, by whoever comes next.
#include <cassert>
#include <atomic>
#include <thread>

static std::atomic<int> tries;

struct Resource {
    Resource() {
        if (tries++ == 0)
            throw 1;
    }
};

static bool use() {
    try {
        static Resource resource;
        return true;
    } catch (int) {
        return false;
    }
}

int main() {
    bool first = false;
    std::thread other([&] { first = use(); });
    bool second = use();
    other.join();
    assert(tries == 2);
    assert(first != second);
}
