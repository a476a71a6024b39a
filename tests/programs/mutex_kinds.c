// expect: ok
// What each kind of mutex answers, in one thread.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

int main(void) {
    struct timespec deadline = {0, 0}, nonsense = {0, -1};

    for (int i = 0; i < 3; i++)
        assert(pthread_mutex_lock(&recursive) == 0);
    assert(pthread_mutex_trylock(&recursive) == 0);
    for (int i = 0; i < 4; i++)
        assert(pthread_mutex_unlock(&recursive) == 0);
    assert(pthread_mutex_unlock(&recursive) == EPERM);

    assert(pthread_mutex_unlock(&checked) == EPERM);
    assert(pthread_mutex_lock(&checked) == 0);
    assert(pthread_mutex_lock(&checked) == EDEADLK);
    assert(pthread_mutex_trylock(&checked) == EBUSY);
    assert(pthread_mutex_timedlock(&checked, &deadline) == EDEADLK);
    assert(pthread_mutex_unlock(&checked) == 0);

    pthread_mutexattr_t attributes;
    int kind;
    pthread_mutexattr_init(&attributes);
    assert(pthread_mutexattr_settype(&attributes, 99) == EINVAL);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutexattr_gettype(&attributes, &kind);
    assert(kind == PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_t mutex;
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    assert(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&mutex) == 0);
    assert(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
    assert(pthread_mutex_destroy(&mutex) == 0);

    pthread_mutex_init(&mutex, NULL);
    assert(pthread_mutex_lock(&mutex) == 0);
    assert(pthread_mutex_trylock(&mutex) == EBUSY);
    assert(pthread_mutex_timedlock(&mutex, &deadline) == ETIMEDOUT);
    assert(pthread_mutex_timedlock(&mutex, &nonsense) == EINVAL);
    assert(pthread_mutex_unlock(&mutex) == 0);
    assert(pthread_mutex_timedlock(&mutex, &deadline) == 0);
    assert(pthread_mutex_unlock(&mutex) == 0);
    return 0;
}
