// expect: ok
// Polling with a deadline: it ends either way.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static atomic_int done, abandoned;

static void *run(void *unused) {
    if (!atomic_load(&abandoned))
        atomic_store(&done, 1);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    time_t deadline = time(NULL) + 60;
    while (!atomic_load(&done)) {
        if (time(NULL) > deadline) {
            atomic_store(&abandoned, 1);
            break;
        }
    }
    pthread_join(thread, NULL);
    assert(done || abandoned);
    return 0;
}
