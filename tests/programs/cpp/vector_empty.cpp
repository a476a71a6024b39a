// expect: bug abort
// line: 19
// facility: containers and algorithms
// Two threads take the last element, since it was there when they looked: no memory is touched that is not there.
#include <mutex>
#include <thread>
#include <vector>

std::vector<int> jobs = {1};
std::mutex mutex;

static bool some() {
    std::lock_guard<std::mutex> guard(mutex);
    return !jobs.empty();
}

static void take() {
    std::lock_guard<std::mutex> guard(mutex);
    jobs.pop_back();
}

static void work() {
    if (some())
        take();
}

int main() {
    std::thread thread(work);
    work();
    thread.join();
}
