// expect: bug deadlock
// facility: `condition_variable`, `condition_variable_any`
// The notification may come before anybody waits: what is waited for is not remembered.
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex mutex;
std::condition_variable ready;

static void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    ready.wait(lock);
}

int main() {
    std::thread waiter(wait);
    ready.notify_one();
    waiter.join();
}
