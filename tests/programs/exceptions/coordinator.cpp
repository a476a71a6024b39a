// expect: ok
// The first worker that fails is told to whoever waits, by a pointer to its exception under a lock.
#include <cassert>
#include <exception>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::exception_ptr first;

static void work(int number) {
    try {
        throw number;
    } catch (...) {
        std::lock_guard<std::mutex> guard(mutex);
        if (!first)
            first = std::current_exception();
    }
}

int main() {
    std::thread one(work, 1), two(work, 2);
    one.join();
    two.join();
    try {
        std::rethrow_exception(first);
    } catch (int number) {
        assert(number == 1 || number == 2);
    }
}
