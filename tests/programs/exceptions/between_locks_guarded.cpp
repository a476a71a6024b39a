// expect: ok
// traces: 2
// A guard unlocks when an exception leaves its block.
#include <cassert>
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex mutex;
static int number;

static void add(int summand) {
    std::lock_guard<std::mutex> guard(mutex);
    if (number + summand > 2)
        throw std::range_error("too large");
    number += summand;
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
    std::lock_guard<std::mutex> guard(mutex);
    assert(number == 1 || number == 2);
}
