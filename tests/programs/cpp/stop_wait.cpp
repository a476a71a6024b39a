// expect: ok
// options: -std=c++20
// facility: `jthread`, `stop_token`, `stop_callback`
// A wait that ends when a stop is requested.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

std::mutex mutex;
std::condition_variable_any changed;
bool ready;

int main() {
    std::jthread waiter([](std::stop_token token) {
        std::unique_lock<std::mutex> lock(mutex);
        bool there = changed.wait(lock, token, [] { return ready; });
        assert(!there && token.stop_requested());
    });
    waiter.request_stop();
}
