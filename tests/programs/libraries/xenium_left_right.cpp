// expect: ok
// A reader sees the old or the new value.
#include <xenium/left_right.hpp>
#include <cassert>
#include <thread>
int main() {
    xenium::left_right<int> value(0);
    std::thread writer([&] { value.update([](int& x) noexcept { x = 1; }); });
    int seen = value.read([](const int& x) { return x; });
    assert(seen == 0 || seen == 1);
    writer.join();
}
