// expect: ok
// facility: `future`, `promise`, `async`, `packaged_task`
// Tasks in threads of their own, or when they are asked for.
#include <cassert>
#include <future>

int main() {
    std::atomic<int> ran{0};
    auto first = std::async(std::launch::async, [&] { return ++ran; });
    auto second = std::async(std::launch::deferred, [&] { return ++ran; });
    int sum = first.get();
    assert(sum == 1 && ran == 1);
    assert(second.get() == 2);
}
