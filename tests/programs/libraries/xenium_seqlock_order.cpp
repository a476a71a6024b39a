// expect: bug assertion
// An update may come before the store that overwrites it.
#include <xenium/seqlock.hpp>
#include <cassert>
#include <thread>
struct pair {
    long x, y;
};
int main() {
    xenium::seqlock<pair> value(pair{0, 0});
    std::thread writer([&] { value.store(pair{1, 1}); });
    value.update([](pair& p) noexcept {
        p.x++;
        p.y++;
    });
    writer.join();
    assert(value.load().x == 2);
}
