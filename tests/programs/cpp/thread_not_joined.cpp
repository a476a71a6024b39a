// expect: bug abort
// message: std::terminate
// facility: `thread`, `vector` of threads
// A thread that was neither joined nor detached when its object is destroyed.
#include <thread>

int main() {
    std::thread thread([] {});
}
