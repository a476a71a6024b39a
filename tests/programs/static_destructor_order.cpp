// expect: ok
// Static objects are destroyed in the reverse order of their construction, after the end of main.
#include <cassert>
#include <pthread.h>

static int alive;

struct Part {
    const int number;
    Part() : number(alive++) {}
    ~Part() { assert(number == --alive); }
};

static Part first;
static Part second;

static Part &third() {
    static Part instance;
    return instance;
}

static void *work(void *) {
    assert(third().number == 2);
    return nullptr;
}

int main() {
    pthread_t threads[2];
    for (pthread_t &thread : threads)
        pthread_create(&thread, nullptr, work, nullptr);
    for (pthread_t thread : threads)
        pthread_join(thread, nullptr);
    return 0;
}
