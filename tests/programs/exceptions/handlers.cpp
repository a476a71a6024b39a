// expect: ok
// traces: 1
// Which handler an exception gets to: by type, by base class, by pointer, by value, all; and what a rethrow throws.
#include <cassert>
#include <cstddef>
#include <cstring>
#include <new>
#include <stdexcept>

struct Left {
    int left = 1;
    virtual ~Left() {}
};
struct Right {
    int right = 2;
    virtual ~Right() {}
};
struct Both : Left, Right {
    int both = 3;
};
struct Hidden : private Left {};
struct Top {
    int top = 4;
    virtual ~Top() {}
};
struct One : virtual Top {};
struct Two : virtual Top {};
struct Diamond : One, Two {};
struct Twice : Both {
    int twice = 5;
};
struct Plain {
    int number;
};
struct Copied {
    static inline int copies = 0, live = 0;
    Copied() { live++; }
    Copied(const Copied &) { copies++, live++; }
    ~Copied() { live--; }
};
enum Colour { red, green };
enum class Size { small, large };

template <class T> static int caught(const T &thrown) {
    try {
        throw thrown;
    } catch (int number) {
        return number;
    } catch (const char *text) {
        return static_cast<int>(std::strlen(text));
    } catch (const Right &right) {
        return 20 + right.right;
    } catch (const Top &top) {
        return 30 + top.top;
    } catch (Left *left) {
        return 40 + left->left;
    } catch (const void *) {
        return 50;
    } catch (Colour colour) {
        return 60 + colour;
    } catch (Size size) {
        return 70 + static_cast<int>(size);
    } catch (const std::logic_error &error) {
        return error.what()[0];
    } catch (std::exception &) {
        return 80;
    } catch (int (*function)(int)) {
        return function(9);
    } catch (Plain plain) {
        return plain.number;
    } catch (std::nullptr_t) {
        return 99;
    } catch (...) {
        return -1;
    }
}

static int twice(int number) { return 2 * number; }

static int again() {
    try {
        try {
            throw Both();
        } catch (Left &left) {
            left.left = 7;
            throw;
        }
    } catch (Both &both) {
        return both.left + both.both;
    }
}

static int other() {
    try {
        try {
            throw 1;
        } catch (int) {
            throw 2.5;
        }
    } catch (int) {
        return 1;
    } catch (double) {
        return 2;
    }
}

int main() {
    assert(caught(5) == 5);
    assert(caught("four") == 4);
    assert(caught(Both()) == 22);
    assert(caught(Twice()) == 22);
    assert(caught(Diamond()) == 34);
    Both both;
    assert(caught(&both) == 41);
    double number = 0;
    assert(caught(&number) == 50);
    assert(caught(green) == 61);
    assert(caught(Size::large) == 71);
    assert(caught(std::out_of_range("o")) == 'o');
    assert(caught(std::bad_alloc()) == 80);
    assert(caught(&twice) == 18);
    assert(caught(Plain{17}) == 17);
    assert(caught(5L) == -1);
    assert(caught(Hidden()) == -1);
    assert(caught(Left()) == -1);
    assert(again() == 10);
    assert(other() == 2);
    try {
        throw Copied();
    } catch (Copied copy) {
        assert(Copied::live == 2);
    }
    assert(Copied::live == 0 && Copied::copies == 1);
}
