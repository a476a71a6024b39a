// expect: bug sync
// line: 11
// message: does not hold
// The lock is held, but by somebody else.
#include <pthread.h>
#include <stddef.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *thread(void *unused) {
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_rwlock_rdlock(&lock);
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
    return 0;
}
