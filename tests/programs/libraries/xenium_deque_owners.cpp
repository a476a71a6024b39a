// expect: bug assertion
// Only the owner may pop: two get the same element.
#include <xenium/chase_work_stealing_deque.hpp>
#include <cassert>
#include <thread>
int main() {
    xenium::chase_work_stealing_deque<int> deque;
    int one = 1, two = 2;
    int *a = nullptr, *b = nullptr;
    deque.try_push(&one);
    deque.try_push(&two);
    std::thread other([&] { (void)deque.try_pop(a); });  // only the owner may pop
    (void)deque.try_pop(b);
    other.join();
    assert(a != b);
}
