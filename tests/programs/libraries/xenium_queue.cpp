// expect: ok
// Two producers, with hazard pointers: nothing is lost.
#include <xenium/michael_scott_queue.hpp>
#include <xenium/reclamation/hazard_pointer.hpp>
#include <cassert>
#include <thread>
using reclaimer = xenium::reclamation::hazard_pointer<>::with<
    xenium::policy::allocation_strategy<xenium::reclamation::hp_allocation::static_strategy<2>>>;
int main() {
    xenium::michael_scott_queue<int, xenium::policy::reclaimer<reclaimer>> queue;
    std::thread a([&] { queue.push(1); });
    queue.push(2);
    a.join();
    int x, y;
    assert(queue.try_pop(x) && queue.try_pop(y) && x + y == 3);
}
