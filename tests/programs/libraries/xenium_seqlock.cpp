// expect: ok
// No reader sees half of what is written.
#include <xenium/seqlock.hpp>
#include <cassert>
#include <thread>
struct pair {
    long x, y;
};
int main() {
    xenium::seqlock<pair> value(pair{0, 0});
    std::thread writer([&] { value.store(pair{1, 1}); });
    pair seen = value.load();
    assert(seen.x == seen.y);
    writer.join();
}
