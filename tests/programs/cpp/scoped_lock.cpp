// expect: ok
// engine: stateful
// facility: `mutex`, `recursive_mutex`, `lock_guard`, `unique_lock`, `scoped_lock`
// Several mutexes at once, in different orders: scoped_lock backs off, as often as it has to.
#include <cassert>
#include <mutex>
#include <thread>

std::mutex a, b;
int first = 10, second = 10;

int main() {
    std::thread thread([] {
        std::scoped_lock locks(a, b);
        first--, second++;
    });
    {
        std::scoped_lock locks(b, a);
        second--, first++;
    }
    thread.join();
    assert(first == 10 && second == 10);
}
