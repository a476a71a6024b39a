// expect: ok
// facility: `chrono`
// A clock never goes back, and whether a deadline has passed is open.
#include <cassert>
#include <chrono>

int main() {
    using namespace std::chrono;
    auto start = steady_clock::now();
    auto later = steady_clock::now();
    assert(later >= start);
    assert(duration_cast<milliseconds>(2s).count() == 2000);
    auto day = duration_cast<hours>(system_clock::now().time_since_epoch());
    assert(day.count() >= 0);
}
