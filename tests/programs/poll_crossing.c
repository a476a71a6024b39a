// expect: bug livelock
// Two threads that hold one lock each and try for the other's: not a deadlock, for they never wait, but as bad.
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int balance;

static void transfer(pthread_mutex_t *from, pthread_mutex_t *to) {
    pthread_mutex_lock(from);
    while (pthread_mutex_trylock(to) != 0)
        sched_yield();
    balance++;
    pthread_mutex_unlock(to);
    pthread_mutex_unlock(from);
}

static void *thread(void *unused) {
    transfer(&second, &first);
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    transfer(&first, &second);
    pthread_join(other, NULL);
    return 0;
}
