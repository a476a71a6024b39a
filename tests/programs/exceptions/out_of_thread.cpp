// expect: bug abort
// line: 11
// message: uncaught exception of type std::out_of_range: no such job
// An exception that leaves the function of a thread ends the program. It depends on the order whether it is thrown.
#include <atomic>
#include <stdexcept>
#include <thread>
static std::atomic<int> jobs = 1;
static void work() {
    if (jobs-- <= 0)
        throw std::out_of_range("no such job");
}

int main() {
    std::thread first(work);
    try {
        work();
    } catch (const std::exception &) {
    }
    first.join();
}
