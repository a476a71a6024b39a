// expect: ok
// A static variable of a function is initialised once, and others wait for it.
#include <cassert>
#include <pthread.h>

static int initialised;

static int expensive() { return ++initialised * 10; }

static int &instance() {
    static int value = expensive();
    return value;
}

static void *thread(void *) {
    assert(instance() == 10);
    return nullptr;
}

int main() {
    pthread_t a, b;
    pthread_create(&a, nullptr, thread, nullptr);
    pthread_create(&b, nullptr, thread, nullptr);
    pthread_join(a, nullptr);
    pthread_join(b, nullptr);
    assert(initialised == 1);
    return 0;
}
