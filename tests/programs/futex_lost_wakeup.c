// expect: bug deadlock
// message: waits for
// Nobody wakes those who wait at the futex.
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int word;
static int shared;

static int exchange_if(int from, int to) {
    atomic_compare_exchange_strong(&word, &from, to);
    return from;
}

static void lock(void) {
    int seen = exchange_if(0, 1);
    if (seen == 0)
        return;
    if (seen != 2)
        seen = atomic_exchange(&word, 2);
    while (seen != 0) {
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
        seen = atomic_exchange(&word, 2);
    }
}

static void unlock(void) {
    if (atomic_fetch_sub(&word, 1) != 1) {
        atomic_store(&word, 0);
    }
}

static void *run(void *unused) {
    lock();
    shared++;
    unlock();
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(shared == 2);
    return 0;
}
