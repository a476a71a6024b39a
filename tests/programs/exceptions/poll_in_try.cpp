// expect: ok
// traces: 1
// A loop that waits, by calls that may throw, inside of a try block: only rounds that throw do something.
#include <atomic>
#include <cassert>
#include <pthread.h>

static std::atomic<int> state;
static int value;

static bool ready() {
    int now = state.load();
    if (now == 1)
        throw now;
    return now == 2;
}

static void *wait(void *unused) {
    int failures = 0;
    for (;;) {
        try {
            if (ready())
                break;
        } catch (int) {
            if (++failures == 2)
                return unused;
        }
    }
    assert(value == 1);
    return unused;
}

int main() {
    pthread_t thread;
    pthread_create(&thread, nullptr, wait, nullptr);
    value = 1;
    state = 2;
    pthread_join(thread, nullptr);
}
