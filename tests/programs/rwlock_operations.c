// expect: ok
// What the operations answer, in one thread and another.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *try_while_read(void *unused) {
    struct timespec deadline = {0, 0};
    assert(pthread_rwlock_trywrlock(&lock) == EBUSY);
    assert(pthread_rwlock_timedwrlock(&lock, &deadline) == ETIMEDOUT);
    assert(pthread_rwlock_tryrdlock(&lock) == 0);
    assert(pthread_rwlock_unlock(&lock) == 0);
    return unused;
}

static void *try_while_written(void *unused) {
    struct timespec deadline = {0, 0};
    assert(pthread_rwlock_trywrlock(&lock) == EBUSY);
    assert(pthread_rwlock_tryrdlock(&lock) == EBUSY);
    assert(pthread_rwlock_timedrdlock(&lock, &deadline) == ETIMEDOUT);
    return unused;
}

static void run(void *(*function)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, function, NULL);
    pthread_join(thread, NULL);
}

int main(void) {
    assert(pthread_rwlock_rdlock(&lock) == 0);
    assert(pthread_rwlock_rdlock(&lock) == 0);
    run(try_while_read);
    assert(pthread_rwlock_unlock(&lock) == 0);
    run(try_while_read);
    assert(pthread_rwlock_unlock(&lock) == 0);
    assert(pthread_rwlock_wrlock(&lock) == 0);
    run(try_while_written);
    assert(pthread_rwlock_unlock(&lock) == 0);
    assert(pthread_rwlock_trywrlock(&lock) == 0);
    run(try_while_written);
    assert(pthread_rwlock_unlock(&lock) == 0);
    assert(pthread_rwlock_destroy(&lock) == 0);
    return 0;
}
