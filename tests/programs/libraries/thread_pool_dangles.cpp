// expect: bug memory
// A task has a reference to a variable of a function that does not wait for it.
#include <thread_pool/thread_pool.hpp>
static void start(thread_pool::ThreadPool& pool) {
    int done = 0;
    pool.Submit([&] { done = 1; });  // nobody waits for it
}
int main() {
    thread_pool::ThreadPool pool(1);
    start(pool);
}
