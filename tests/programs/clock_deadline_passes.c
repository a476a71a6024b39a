// expect: bug assertion
// line: 23
// A deadline may pass before the other thread has done its part.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static atomic_int done;

static void *run(void *unused) {
    atomic_store(&done, 1);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    time_t deadline = time(NULL) + 60;
    while (!atomic_load(&done) && time(NULL) < deadline)
        ;
    int finished = atomic_load(&done);
    assert(finished);
    pthread_join(thread, NULL);
    return 0;
}
