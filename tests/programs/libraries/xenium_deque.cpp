// expect: ok
// A thief takes the first element, or the owner does.
#include <xenium/chase_work_stealing_deque.hpp>
#include <cassert>
#include <thread>
int main() {
    xenium::chase_work_stealing_deque<int> deque;
    int one = 1, two = 2;
    int *stolen = nullptr, *popped = nullptr, *rest = nullptr;
    deque.try_push(&one);
    deque.try_push(&two);
    std::thread thief([&] { (void)deque.try_steal(stolen); });
    (void)deque.try_pop(popped);
    (void)deque.try_pop(rest);
    thief.join();
    assert(popped == &two);
    assert((stolen == &one) != (rest == &one));
}
