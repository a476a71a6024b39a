// expect: ok
// traces: 1
// Destructors while an exception is in flight: in order, each once, of members, bases, array elements and temporaries that
// were made, and of nothing else. Function try blocks; `delete` after a constructor that throws.
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

static char order[64];
static void note(char letter) { order[std::strlen(order)] = letter; }
static bool noted(const char *expected) {
    bool same = std::strcmp(order, expected) == 0;
    std::memset(order, 0, sizeof order);
    return same;
}

struct Noted {
    char letter;
    explicit Noted(char name) : letter(name) {
        if (name >= 'x')
            throw name;
        note(name);
    }
    ~Noted() { note(static_cast<char>(letter - 'a' + 'A')); }
};

struct Members : Noted {
    Noted first, second;
    Members(char last) try : Noted('a'), first('b'), second(last) {
        note('+');
    } catch (char thrown) {
        note(thrown);
    }
};

static int made;
struct Element {
    Element() {
        if (made == 3)
            throw made;
        made++;
    }
    ~Element() { made--; }
};

static int frees;
struct Counted {
    static void *operator new(std::size_t size) { return std::malloc(size); }
    static void operator delete(void *object) { frees++, std::free(object); }
    Counted() { throw 1; }
};

static void nested(int depth) {
    Noted local(static_cast<char>('a' + depth));
    if (depth == 2)
        throw depth;
    nested(depth + 1);
    note('!');
}

static int in_flight;
struct Counts {
    ~Counts() { in_flight = std::uncaught_exceptions(); }
};

int main() {
    try {
        nested(0);
    } catch (int) {
        note('.');
    }
    assert(noted("abcCBA."));
    try {
        Members whole('c');
    } catch (...) {
        assert(false);
    }
    assert(noted("abc+CBA"));
    try {
        Members part('x');
        note('?');
    } catch (char thrown) {
        note(thrown);
    }
    assert(noted("abBAxx"));
    try {
        Element elements[5];
    } catch (int number) {
        assert(number == 3 && made == 0);
    }
    try {
        delete[] new Element[4];
    } catch (int number) {
        assert(number == 3 && made == 0);
    }
    try {
        new Counted;
    } catch (int) {
        assert(frees == 1);
    }
    try {
        Counts counts;
        try {
            Counts inner;
            throw 1;
        } catch (int) {
            assert(in_flight == 1 && std::uncaught_exceptions() == 0);
        }
        throw 2;
    } catch (int) {
        assert(in_flight == 1);
    }
    for (int round = 0; round < 3; round++) {
        try {
            Noted local('d');
            if (round == 1)
                continue;
            throw round;
        } catch (int) {
            if (round == 2)
                break;
        }
    }
    assert(noted("dDdDdD"));
}
