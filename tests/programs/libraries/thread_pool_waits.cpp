// expect: bug deadlock
// A task waits for another one, for which there is no thread.
#include <thread_pool/thread_pool.hpp>
#include <cassert>
int main() {
    thread_pool::ThreadPool pool(1);
    auto result = pool.Submit(
        [&] { return pool.Submit([] { return 1; }).get(); });  // nobody is left to run the inner one
    assert(result.get() == 1);
}
