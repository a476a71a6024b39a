// expect: bug assertion
// What was read may be old when the update is made with it.
#include <xenium/left_right.hpp>
#include <cassert>
#include <thread>
int main() {
    xenium::left_right<int> value(0);
    std::thread writer([&] { value.update([](int& x) noexcept { x++; }); });
    int seen = value.read([](const int& x) { return x; });
    value.update([&](int& x) noexcept { x = seen + 1; });  // what was read may be old
    writer.join();
    assert(value.read([](const int& x) { return x; }) == 2);
}
