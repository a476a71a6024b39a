// expect: ok
// options: -std=c++20
// facility: `jthread`, `stop_token`, `stop_callback`
// A callback runs once, wherever it is when the stop is requested.
#include <cassert>
#include <stop_token>
#include <thread>

int main() {
    std::stop_source source;
    int called = 0;
    std::thread thread([&] { source.request_stop(); });
    {
        std::stop_callback callback(source.get_token(), [&] { called++; });
        thread.join();
    }
    assert(called == 1 && source.stop_requested());
}
