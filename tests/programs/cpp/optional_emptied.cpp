// expect: bug abort
// line: 15
// options: -std=c++17
// facility: containers and algorithms
// What was looked at before the lock was taken is no longer there.
#include <mutex>
#include <optional>
#include <thread>

std::optional<int> message = 4;
std::mutex mutex;

static int read() {
    std::lock_guard<std::mutex> guard(mutex);
    return *message;
}

static bool there() {
    std::lock_guard<std::mutex> guard(mutex);
    return message.has_value();
}

int main() {
    std::thread thread([] {
        std::lock_guard<std::mutex> guard(mutex);
        message.reset();
    });
    int found = there() ? read() : 0;
    thread.join();
    return found * 0;
}
