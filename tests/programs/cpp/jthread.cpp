// expect: ok
// options: -std=c++20
// facility: `jthread`, `stop_token`, `stop_callback`
// A thread that runs until it is asked to stop, and is joined by its destructor.
#include <atomic>
#include <cassert>
#include <stop_token>
#include <thread>

std::atomic<bool> stopped{false};

int main() {
    {
        std::jthread thread([](std::stop_token token) {
            while (!token.stop_requested())
                std::this_thread::yield();
            stopped = true;
        });
    }
    assert(stopped);
}
