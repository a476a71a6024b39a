// expect: ok
// facility: `mutex`, `recursive_mutex`, `lock_guard`, `unique_lock`, `scoped_lock`
// Several mutexes at once, in the same order: nobody ever has to back off.
#include <cassert>
#include <mutex>
#include <thread>

std::mutex a, b;
int first = 10, second = 10;

static void move_one(int &from, int &to) {
    std::scoped_lock locks(a, b);
    from--, to++;
}

int main() {
    std::thread thread([] { move_one(first, second); });
    move_one(second, first);
    thread.join();
    assert(first == 10 && second == 10);
}
