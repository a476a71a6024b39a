// expect: bug assertion
// Between producers, there is no order.
#include <xenium/michael_scott_queue.hpp>
#include <xenium/reclamation/hazard_pointer.hpp>
#include <cassert>
#include <thread>
using strategy = xenium::policy::allocation_strategy<xenium::reclamation::hp_allocation::static_strategy<2>>;
using reclaimer = xenium::policy::reclaimer<xenium::reclamation::hazard_pointer<>::with<strategy>>;
int main() {
    xenium::michael_scott_queue<int, reclaimer> queue;
    std::thread a([&] { queue.push(1); });
    queue.push(2);
    int x = 0;
    (void)queue.try_pop(x);
    a.join();
    assert(x == 2);  // the other may have been first
}
