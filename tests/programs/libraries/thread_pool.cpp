// expect: ok
// options: --engine stateful
// The pool's destructor waits for the tasks that were submitted.
#include <thread_pool/thread_pool.hpp>
#include <cassert>
int main() {
    int done = 0;
    {
        thread_pool::ThreadPool pool(1);
        pool.Submit([&] { done = 1; });
    }
    assert(done == 1);
}
