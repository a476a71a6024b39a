// expect: ok
// Classes: constructors, virtual functions, new and delete, a guard object around a mutex, static objects.
#include <cassert>
#include <pthread.h>

class Guard {
public:
    explicit Guard(pthread_mutex_t &mutex) : mutex(mutex) { pthread_mutex_lock(&mutex); }
    ~Guard() { pthread_mutex_unlock(&mutex); }
    Guard(const Guard &) = delete;

private:
    pthread_mutex_t &mutex;
};

struct Shape {
    virtual ~Shape() { destroyed++; }
    virtual int area() const = 0;
    static int destroyed;
};
int Shape::destroyed = 0;

struct Square : Shape {
    explicit Square(int side) : side(side) {}
    int area() const override { return side * side; }
    int side;
};

struct Box : Square {
    Box(int side, int height) : Square(side), height(height) {}
    int area() const override { return Square::area() * height; }
    int height;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int first_call() {
    static int value = total + 5;
    return value;
}

static void *thread(void *argument) {
    auto *shape = static_cast<Shape *>(argument);
    Guard guard(lock);
    total += shape->area();
    return nullptr;
}

int main() {
    assert(first_call() == 5);
    Shape *shapes[] = {new Square(3), new Box(2, 5)};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], nullptr, thread, shapes[i]);
    for (pthread_t other : threads)
        pthread_join(other, nullptr);
    assert(total == 29 && first_call() == 5);
    for (Shape *shape : shapes)
        delete shape;
    int *numbers = new int[4]();
    assert(numbers[3] == 0);
    delete[] numbers;
    assert(Shape::destroyed == 2);
    return 0;
}
