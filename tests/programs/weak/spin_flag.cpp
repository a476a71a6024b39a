// expect: ok
// weakened: -DLOCK=std::memory_order_relaxed -> race; sc: race
// weakened: -DUNLOCK=std::memory_order_relaxed -> race; sc: race
// A spin lock of std::atomic_flag, held by a guard. The flag's order is all that orders the counter.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

// Sees what the last owner has released.
#ifndef LOCK
#define LOCK std::memory_order_acquire
#endif
// Lets the next one see it.
#ifndef UNLOCK
#define UNLOCK std::memory_order_release
#endif

class SpinLock {
public:
    void lock() {
        while (flag.test_and_set(LOCK))
            ;
    }
    void unlock() { flag.clear(UNLOCK); }

private:
    std::atomic_flag flag = ATOMIC_FLAG_INIT;
};

static SpinLock spin;
static int counter;

static void work() {
    std::lock_guard<SpinLock> guard(spin);
    ++counter;
}

int main() {
    std::thread first(work), second(work);
    first.join();
    second.join();
    assert(counter == 2);
}
