// expect: ok
// weakened: -DCOUNT_DOWN=std::memory_order_relaxed -> race; sc: race
// weakened: -DWAIT=std::memory_order_relaxed -> race; sc: race
// weakened: -DCOUNT_DOWN=std::memory_order_acquire -> race; sc: race
// A latch: those who wait go on once all others have counted down.
#include <atomic>
#include <cassert>
#include <thread>

// Releases what was done before. The other ones who count down do not end its release sequence.
#ifndef COUNT_DOWN
#define COUNT_DOWN std::memory_order_release
#endif
// Acquires all of it.
#ifndef WAIT
#define WAIT std::memory_order_acquire
#endif

class Latch {
public:
    explicit Latch(int expected) : missing(expected) {}
    void count_down() { missing.fetch_sub(1, COUNT_DOWN); }
    void wait() const {
        while (missing.load(WAIT) != 0)
            ;
    }

private:
    std::atomic<int> missing;
};

static Latch latch(2);
static int parts[2];

int main() {
    std::thread first([] {
        parts[0] = 1;
        latch.count_down();
    });
    std::thread second([] {
        parts[1] = 2;
        latch.count_down();
        latch.wait();
        assert(parts[0] == 1);
    });
    latch.wait();
    assert(parts[0] + parts[1] == 3);
    first.join();
    second.join();
}
