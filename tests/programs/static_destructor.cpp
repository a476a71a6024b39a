// expect: bug assertion
// line: 20
// When main returns, static objects are destroyed, though other threads may still use them.
#include <cassert>
#include <pthread.h>

struct Journal {
    bool open = true;
    ~Journal() { open = false; }
};

static Journal &journal() {
    static Journal instance;
    return instance;
}

static Journal early;

static void *work(void *) {
    assert(journal().open && early.open);
    return nullptr;
}

int main() {
    pthread_t thread;
    pthread_create(&thread, nullptr, work, nullptr);
    return 0;
}
