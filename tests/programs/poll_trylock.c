// expect: ok
// traces: 6
// Whoever cannot have the lock at once lets others run and tries again: waiting, whatever the kind of the lock.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <threads.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int inside;

static int thread(void *unused) {
    (void)unused;
    while (pthread_mutex_trylock(&mutex))
        sched_yield();
    assert(++inside == 1);
    inside--;
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void) {
    thrd_t a, b;
    thrd_create(&a, thread, NULL);
    thrd_create(&b, thread, NULL);
    thread(NULL);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    return 0;
}
