// expect: bug assertion
// line: 20
// facility: `iostream`, `sstream`
// Two threads write to the same string stream.
#include <cassert>
#include <mutex>
#include <sstream>
#include <thread>

std::ostringstream out;
std::mutex mutex;

static void write() {
    out << 'x';
}

int main() {
    std::thread other(write);
    write();
    other.join(); assert(out.str() == "xx");
}
