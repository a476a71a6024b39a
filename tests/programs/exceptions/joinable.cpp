// expect: bug abort
// message: std::terminate was called
// A thread object that is destroyed before its thread was joined ends the program: here, because of an exception.
#include <stdexcept>
#include <thread>

static void start() {
    std::thread worker([] {});
    throw std::runtime_error("before the join");
}

int main() {
    try {
        start();
    } catch (const std::exception &) {
    }
}
