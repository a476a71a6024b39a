// expect: bug deadlock
// facility: `mutex`, `recursive_mutex`, `lock_guard`, `unique_lock`, `scoped_lock`
// Two mutexes, one after the other, in different orders.
#include <mutex>
#include <thread>

std::mutex a, b;

int main() {
    std::thread thread([] {
        std::unique_lock<std::mutex> one(a);
        std::unique_lock<std::mutex> other(b);
    });
    std::unique_lock<std::mutex> one(b);
    std::unique_lock<std::mutex> other(a);
    other.unlock();
    one.unlock();
    thread.join();
}
