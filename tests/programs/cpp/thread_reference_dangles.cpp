// expect: bug memory
// facility: `thread`, `vector` of threads
// A detached thread refers to a variable of a function that may have returned.
#include <thread>

static void start() {
    int local = 1;
    std::thread([&local] { local++; }).detach();
}

int main() {
    start();
}
