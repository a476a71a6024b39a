// expect: ok
// facility: `shared_ptr`, `weak_ptr`, `unique_ptr`, atomic access to `shared_ptr`
// The last owner destroys the object, whoever that is; a weak pointer knows.
#include <cassert>
#include <memory>
#include <thread>

static int destroyed;

struct Thing {
    int value = 7;
    ~Thing() { destroyed++; }
};

int main() {
    auto thing = std::make_shared<Thing>();
    std::weak_ptr<Thing> observer = thing;
    std::thread user([thing] { assert(thing->value == 7); });
    thing.reset();
    if (auto locked = observer.lock())
        assert(locked->value == 7);
    user.join();
    assert(observer.expired() && destroyed == 1);
}
