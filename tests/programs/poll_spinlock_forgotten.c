// expect: bug livelock
// The lock is not given back when there is nothing to do, and the other thread tries for ever.
#include <pthread.h>
#include <stdatomic.h>

static pthread_spinlock_t lock;
static atomic_int ready;
static int value;

static void *thread(void *unused) {
    while (pthread_spin_trylock(&lock))
        ;
    if (!ready)
        return unused;
    value++;
    pthread_spin_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&other, NULL, thread, NULL);
    ready = 1;
    while (pthread_spin_trylock(&lock))
        ;
    value++;
    pthread_spin_unlock(&lock);
    pthread_join(other, NULL);
    return 0;
}
