// expect: bug abort
// line: 15
// message: uncaught exception of type int
// Threads take the places of those that have ended inside of a try block: nothing of its handlers is left.
#include <pthread.h>

static int round_number;

static void *work(void *unused) {
    if (round_number < 12) {
        try {
            pthread_exit(unused);
        } catch (int) {
        }
    } else throw 1;
    return unused;
}

int main() {
    for (; round_number < 13; round_number++) {
        pthread_t thread;
        pthread_create(&thread, nullptr, work, nullptr);
        pthread_join(thread, nullptr);
    }
}
