// expect: bug memory
// facility: `thread_local` objects
// A pointer to an object of a thread that has ended.
#include <memory>
#include <thread>

int *leaked;
thread_local std::unique_ptr<int> own;

int main() {
    std::thread other([] {
        own = std::make_unique<int>(1);
        leaked = own.get();
    });
    other.join();
    return *leaked == 2;
}
