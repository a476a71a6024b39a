// expect: ok
// Constructors, destructors, virtual functions, templates, references, lambdas, static initialisation, new and delete.
#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <new>

static int alive, order[32], events;

static void note(int event) { order[events++] = event; }

class Shape {
public:
    explicit Shape(int tag) : tag_(tag) { ++alive; note(tag); }
    Shape(const Shape &other) : tag_(other.tag_ + 100) { ++alive; }
    virtual ~Shape() { --alive; note(-tag_); }
    virtual int area() const = 0;
    virtual const char *name() const { return "shape"; }
    int tag() const { return tag_; }

private:
    int tag_;
};

class Square : public Shape {
public:
    Square(int tag, int side) : Shape(tag), side_(side) {}
    int area() const override { return side_ * side_; }
    const char *name() const override { return "square"; }

private:
    int side_;
};

struct Named {
    virtual ~Named() {}
    virtual int length() const { return 1; }
    char letters[5] = {'a', 'b', 'c', 'd', 0};
};

// Two bases: calls through the second one adjust `this`.
class Both final : public Square, public Named {
public:
    Both() : Square(7, 3), extra(11) {}
    int length() const override { return extra + tag(); }
    const char *name() const override { return "both"; }
    int extra;
};

struct Diamond {
    Diamond() : value(5) {}
    virtual int get() const { return value; }
    int value;
};
struct Left : virtual Diamond { int left = 1; };
struct Right : virtual Diamond { int right = 2; int get() const override { return value * 10 + right; } };
struct Bottom : Left, Right { int bottom = 3; };

template <class T, int N> struct Stack {
    T items[N];
    int count = 0;
    void push(const T &item) { items[count++] = item; }
    T pop() { return items[--count]; }
    template <class F> int sum(F f) const {
        int total = 0;
        for (const T &item : items) total += f(item);
        return total;
    }
};

// References to objects that live on.
static Square &global = *new Square(1, 4);

static Square &once() {
    static Square &local = *new Square(2, 5);
    return local;
}

static void add(int &target, int amount) { target += amount; }
static int &&forward(int &&value) { return static_cast<int &&>(value); }

enum class Colour : unsigned char { red = 3, green = 250 };
struct Big { long values[9]; Big(long start) { for (long &value : values) value = start++; } };
static Big make(long start) { return Big(start); }
static long take(Big big) { big.values[0] = 0; long total = 0; for (long value : big.values) total += value; return total; }

int main() {
    assert(alive == 1 && order[0] == 1);
    assert(once().area() == 25 && once().area() == 25 && alive == 2);
    Shape *shape = new Both;
    assert(shape->area() == 9 && std::strcmp(shape->name(), "both") == 0);
    Both *both = static_cast<Both *>(shape);
    Named *named = both;
    assert(named->length() == 18 && static_cast<void *>(named) != static_cast<void *>(both));
    delete named;
    assert(alive == 2 && order[events - 1] == -7);
    {
        Square copy = global;
        assert(copy.tag() == 101 && alive == 3);
    }
    assert(alive == 2 && order[events - 1] == -101);
    Stack<short, 4> stack;
    for (short i = 0; i < 4; i++) stack.push(static_cast<short>(i * 1000));
    int factor = 3;
    assert(stack.sum([&factor](int x) { return x * factor++; }) == 1000 * 4 + 2000 * 5 + 3000 * 6);
    assert(stack.pop() == 3000 && stack.count == 3);
    int value = 1;
    add(value, 4);
    assert(value == 5 && forward(6) == 6);
    Bottom bottom;
    Diamond &top = bottom;
    assert(top.get() == 52 && bottom.left + bottom.right + bottom.bottom == 6);
    Square *array = static_cast<Square *>(::operator new(2 * sizeof(Square)));
    new (array) Square(8, 2);
    new (array + 1) Square(9, 6);
    assert(array[1].area() == 36 && alive == 4);
    array[1].~Square();
    array[0].~Square();
    ::operator delete(array);
    int *numbers = new int[5]{1, 2, 3};
    assert(numbers[2] == 3 && numbers[4] == 0);
    delete[] numbers;
    struct Counted { int id = alive++; ~Counted() { --alive; } };
    Counted *counted = new Counted[3];
    assert(alive == 5 && counted[2].id == 4);
    delete[] counted;
    assert(alive == 2);
    int (Shape::*method)() const = &Shape::area;
    int Both::*member = &Both::extra;
    Both another;
    assert((another.*method)() == 9 && another.*member == 11);
    assert(static_cast<int>(Colour::green) - static_cast<int>(Colour::red) == 247);
    assert(take(make(5)) == 36 + 45 - 5);
    std::atomic<int> counter{5};
    std::atomic<std::uint8_t> narrow{250};
    std::atomic<Both *> pointer{nullptr};
    std::atomic<double> real{1.5};
    std::atomic_flag flag = ATOMIC_FLAG_INIT;
    assert(counter.fetch_add(3) == 5 && ++counter == 9 && (counter -= 2) == 7 && counter.exchange(1) == 7);
    int expected = 2;
    assert(!counter.compare_exchange_strong(expected, 9) && expected == 1);
    assert(counter.compare_exchange_weak(expected, 9) && counter == 9);
    narrow += 10;
    assert(narrow == 4 && narrow.fetch_xor(5) == 4 && narrow-- == 1);
    Both *none = nullptr;
    assert(pointer.compare_exchange_strong(none, &another) && pointer.load()->extra == 11);
    real = real + 1.0;
    double two = 2.0;
    assert(!real.compare_exchange_strong(two, 3.0) && two == 2.5);
    assert(!flag.test_and_set() && flag.test_and_set());
    struct Pair { int a, b; };
    std::atomic<Pair> pair{Pair{1, 2}};
    Pair old = pair.exchange({3, 4});
    assert(old.b == 2 && pair.load().a == 3);
}
