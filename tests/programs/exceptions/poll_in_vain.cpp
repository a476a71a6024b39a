// expect: bug livelock
// What the loop waits for never comes: each round calls what may throw, and finds nothing.
#include <atomic>
#include <pthread.h>

static std::atomic<int> state;

static bool ready() {
    int now = state.load();
    if (now < 0)
        throw now;
    return now == 2;
}

static void *wait(void *unused) {
    for (;;) {
        try {
            if (ready())
                return unused;
        } catch (int) {
            state = 0;
        }
    }
}

int main() {
    pthread_t thread;
    pthread_create(&thread, nullptr, wait, nullptr);
    state = 1;
    pthread_join(thread, nullptr);
}
