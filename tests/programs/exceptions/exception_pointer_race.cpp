// expect: ok
// races: 1
// A pointer to an exception is no atomic: who looks at it while another thread stores it races.
#include <exception>
#include <thread>

static std::exception_ptr kept;

int main() {
    std::thread worker([] {
        try {
            throw 1;
        } catch (...) {
            kept = std::current_exception();
        }
    });
    if (kept) {
    }
    worker.join();
}
