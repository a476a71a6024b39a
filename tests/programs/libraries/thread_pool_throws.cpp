// expect: bug abort
// What a task throws comes out of get(), where nobody catches it.
#include <thread_pool/thread_pool.hpp>
#include <cassert>
#include <stdexcept>
int main() {
    thread_pool::ThreadPool pool(1);
    auto result = pool.Submit([] { throw std::runtime_error("failed"); });
    result.get();
}
