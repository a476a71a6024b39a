// expect: ok
// Two producers, with hazard pointers: nothing is lost.
#include <memory>
#include <xenium/ramalhete_queue.hpp>
#include <xenium/reclamation/hazard_pointer.hpp>
#include <cassert>
#include <thread>
using strategy = xenium::policy::allocation_strategy<xenium::reclamation::hp_allocation::static_strategy<2>>;
using reclaimer = xenium::policy::reclaimer<xenium::reclamation::hazard_pointer<>::with<strategy>>;
int main() {
    xenium::ramalhete_queue<int*, reclaimer> queue;
    int one = 1, two = 2;
    std::thread a([&] { queue.push(&one); });
    queue.push(&two);
    a.join();
    int *x, *y;
    assert(queue.try_pop(x) && queue.try_pop(y) && x != y);
}
