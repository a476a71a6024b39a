/* A driver that stops while somebody is still at work.
 *
 *     mazurka check --engine stateful examples/driver.c
 *     mazurka check --engine stateful examples/driver.c -DFIXED
 *
 * After a bug that was found in a Bluetooth driver (Qadeer and Wu, "KISS: keep it simple and sequential"). Threads
 * read and write, again and again, as long as the driver is not stopping. When it is to stop, `stopping` keeps new ones
 * out, and `idle` tells that the last one is gone. `pending` counts those at work, and one more until the driver is
 * stopping, so that it becomes 0 only then.
 *
 * But a thread that has looked at `stopping` and has not yet counted itself in is not waited for. With FIXED, it counts
 * itself in first, then looks; and there is no such moment, however often the threads come. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_int pending = 1;
static atomic_bool stopping, idle, stopped;

static void leave(void) {
    if (atomic_fetch_sub(&pending, 1) == 1)
        atomic_store(&idle, true);
}

static bool enter(void) {
#ifdef FIXED
    atomic_fetch_add(&pending, 1);
    if (!atomic_load(&stopping))
        return true;
    leave();
    return false;
#else
    if (atomic_load(&stopping))
        return false;
    atomic_fetch_add(&pending, 1);
    return true;
#endif
}

static void *work(void *unused) {
    for (;;) {
        if (enter()) {
            assert(!atomic_load(&stopped));
            leave();
        }
    }
    return unused;
}

static void stop(void) {
    atomic_store(&stopping, true);
    leave();
    while (!atomic_load(&idle)) {
    }
    atomic_store(&stopped, true);
}

int main(void) {
    pthread_t workers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    stop();
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    return 0;
}
