// expect: bug abort
// line: 14
// message: uncaught exception of type (anonymous namespace)::Full
// What nobody catches ends the program where it is thrown: no destructor runs, and nobody sees the lock free.
#include <mutex>
#include <thread>
namespace {
struct Full {};
}  // namespace
static std::mutex mutex;
static int size;
static void put() {
    std::lock_guard<std::mutex> guard(mutex);
    if (size == 1) throw Full();
    size++;
}

int main() {
    std::thread other(put);
    put();
    other.join();
}
