// expect: bug deadlock
// Two threads that are alike are waited for by who holds the lock that one of them needs, while the other one has
// stopped for good. That is a deadlock whatever that one would do, if it is the first one by name that needs the lock.
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

static atomic_int order;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    int moved = atomic_fetch_add(&order, 1);
    __VERIFIER_assume(moved != 0);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_mutex_lock(&lock);
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    pthread_mutex_unlock(&lock);
    return 0;
}
