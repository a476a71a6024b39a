// expect: bug livelock
// options: -std=c++20
// facility: `jthread`, `stop_token`, `stop_callback`
// A thread that nobody can stop: it looks at a flag that is never set, and not at its token.
#include <atomic>
#include <thread>

std::atomic<bool> stop{false};

int main() {
    std::jthread thread([] {
        while (!stop)
            std::this_thread::yield();
    });
}
