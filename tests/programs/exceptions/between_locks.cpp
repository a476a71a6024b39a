// expect: bug deadlock
// An exception leaves between lock and unlock: the mutex stays locked.
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex mutex;
static int number;

static void add(int summand) {
    mutex.lock();
    if (number + summand > 2)
        throw std::range_error("too large");
    number += summand;
    mutex.unlock();
}

static void work(int summand) {
    try {
        add(summand);
    } catch (const std::range_error &) {
    }
}

int main() {
    std::thread first(work, 2), second(work, 1);
    first.join();
    second.join();
    work(0);
}
