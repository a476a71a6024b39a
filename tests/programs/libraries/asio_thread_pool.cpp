// expect: refused epoll_ctl
// The scheduler of asio has a reactor, which waits for files in a way that is not modelled.
#include <asio/thread_pool.hpp>
#include <asio/post.hpp>
#include <cassert>
int main() {
    asio::thread_pool pool(1);
    int done = 0;
    asio::post(pool, [&] { done = 1; });
    pool.join();
    assert(done == 1);
}
