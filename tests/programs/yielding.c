// expect: ok
// traces: 2
// Sleeping and yielding neither add executions nor take any away.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static atomic_int x;

static void *thread(void *unused) {
    struct timespec moment = {0, 1000};
    sched_yield();
    usleep(10);
    atomic_store(&x, 1);
    nanosleep(&moment, NULL);
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    sleep(1);
    int seen = atomic_load(&x);
    assert(seen == 0 || seen == 1);
    pthread_join(other, NULL);
    return 0;
}
