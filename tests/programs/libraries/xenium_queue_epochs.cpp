// expect: ok
// Two consumers of one value, with reclamation by epochs: one of them gets it.
#include <array>
#include <xenium/michael_scott_queue.hpp>
#include <xenium/reclamation/generic_epoch_based.hpp>
#include <cassert>
#include <thread>
int main() {
    xenium::michael_scott_queue<int, xenium::policy::reclaimer<xenium::reclamation::epoch_based<>>> queue;
    int x = 0, y = 0;
    queue.push(1);
    std::thread a([&] { (void)queue.try_pop(x); });
    (void)queue.try_pop(y);
    a.join();
    assert(x + y == 1);
}
