// expect: bug assertion
// line: 23
// facility: `shared_mutex`, `shared_lock`
// Who only shares a lock writes.
#include <cassert>
#include <shared_mutex>
#include <thread>

std::shared_mutex mutex;
int counter;

static void count() {
    std::shared_lock<std::shared_mutex> lock(mutex);
    counter++;
}

int main() {
    std::thread first(count);
    std::thread second(count);
    first.join();
    second.join();
    std::shared_lock<std::shared_mutex> lock(mutex);
    assert(counter == 2);
}
