// expect: ok
// traces: 1
// dynamic_cast and typeid, with several and with virtual base classes.
#include <cassert>
#include <typeinfo>
#include <cstring>

struct Base {
    int base = 1;
    virtual ~Base() {}
};
struct Middle : Base {
    int middle = 2;
};
struct Side {
    int side = 3;
    virtual ~Side() {}
};
struct Joined : Middle, Side {
    int joined = 4;
};
struct Virtual {
    int top = 5;
    virtual ~Virtual() {}
};
struct A : virtual Virtual {
    int a = 6;
};
struct B : virtual Virtual {
    int b = 7;
};
struct AB : A, B {
    int ab = 8;
};
struct Two : Middle {};
struct Three : Middle {};
struct Ambiguous : Two, Three {};

int main() {
    Joined joined;
    Base *base = &joined;
    assert(dynamic_cast<Joined *>(base) == &joined);
    assert(dynamic_cast<Side *>(base)->side == 3);
    assert(dynamic_cast<void *>(base) == &joined);
    assert(dynamic_cast<AB *>(base) == nullptr);
    Side *side = &joined;
    assert(dynamic_cast<Base *>(side)->base == 1);
    assert(dynamic_cast<Middle &>(*side).middle == 2);
    AB both;
    Virtual *top = &both;
    assert(dynamic_cast<AB *>(top)->ab == 8);
    assert(dynamic_cast<B *>(top)->b == 7);
    A *a = &both;
    assert(dynamic_cast<B *>(a)->b == 7);
    Ambiguous ambiguous;
    Two *two = &ambiguous;
    assert(dynamic_cast<Three *>(two) != nullptr);
    Base *of_two = two;
    assert(dynamic_cast<Middle *>(of_two) == static_cast<Middle *>(two));
    assert(dynamic_cast<Ambiguous *>(of_two) == &ambiguous);
    bool thrown = false;
    try {
        dynamic_cast<AB &>(*base).ab = 0;
    } catch (const std::bad_cast &) {
        thrown = true;
    }
    assert(thrown);
    assert(typeid(*base) == typeid(Joined) && typeid(*base) != typeid(Base));
    assert(typeid(base) == typeid(Base *));
    assert(std::strcmp(typeid(Joined).name(), "6Joined") == 0);
    thrown = false;
    Base *nobody = nullptr;
    try {
        (void)typeid(*nobody).name();
    } catch (const std::bad_typeid &) {
        thrown = true;
    }
    assert(thrown);
}
