// expect: bug assertion
// line: 35
// Either thread can be the one that initialises a static variable of a function.
#include <cassert>
#include <pthread.h>

static int creator;

struct Singleton {
    explicit Singleton(int number) { creator = number; }
};

static void use(int number) {
    static Singleton singleton(number);
    (void)singleton;
}

static void *first(void *) {
    use(1);
    return nullptr;
}

static void *second(void *) {
    use(2);
    return nullptr;
}

int main() {
    pthread_t one, two;
    pthread_create(&one, nullptr, first, nullptr);
    pthread_create(&two, nullptr, second, nullptr);
    pthread_join(one, nullptr);
    pthread_join(two, nullptr);
    // The second thread may have been faster.
    assert(creator == 1);
}
