/* <threads.h>: the same objects as in <pthread.h>, under other names and with other results. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <threads.h>

#include "mazurka.h"

static void run(void *(*start)(void *), void *argument) {
    thrd_start_t function = (thrd_start_t)(void *)start;
    thrd_exit(function(argument));
}

/* One step, unlike pthread_create: in C11 the new thread begins after its creation is complete, so that it can rely on
 * its handle. */
int thrd_create(thrd_t *thread, thrd_start_t start, void *argument) {
    __mazurka_atomic_begin();
    *thread = (thrd_t)__mazurka_spawn(run, (void *(*)(void *))(void *)start, argument);
    __mazurka_atomic_end();
    return thrd_success;
}

_Noreturn void thrd_exit(int value) { pthread_exit((void *)(intptr_t)value); }

int thrd_join(thrd_t thread, int *value) {
    void *returned;
    pthread_join(thread, &returned);
    if (value)
        *value = (int)(intptr_t)returned;
    return thrd_success;
}

int thrd_detach(thrd_t thread) {
    pthread_detach(thread);
    return thrd_success;
}

thrd_t thrd_current(void) { return pthread_self(); }

int thrd_equal(thrd_t left, thrd_t right) { return left == right; }

void thrd_yield(void) {}

int thrd_sleep(const struct timespec *duration, struct timespec *remaining) {
    (void)duration;
    (void)remaining;
    return 0;
}

static int result_of(int error) {
    switch (error) {
    case 0:
        return thrd_success;
    case EBUSY:
        return thrd_busy;
    case ETIMEDOUT:
        return thrd_timedout;
    default:
        return thrd_error;
    }
}

int mtx_init(mtx_t *mutex, int type) {
    pthread_mutexattr_t attributes;
    if (type & ~(mtx_recursive | mtx_timed))
        return thrd_error;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type & mtx_recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
    return result_of(pthread_mutex_init((pthread_mutex_t *)mutex, &attributes));
}

void mtx_destroy(mtx_t *mutex) { pthread_mutex_destroy((pthread_mutex_t *)mutex); }

int mtx_lock(mtx_t *mutex) { return result_of(pthread_mutex_lock((pthread_mutex_t *)mutex)); }

int mtx_trylock(mtx_t *mutex) { return result_of(pthread_mutex_trylock((pthread_mutex_t *)mutex)); }

int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict deadline) {
    return result_of(pthread_mutex_timedlock((pthread_mutex_t *)mutex, deadline));
}

int mtx_unlock(mtx_t *mutex) { return result_of(pthread_mutex_unlock((pthread_mutex_t *)mutex)); }

int cnd_init(cnd_t *condition) { return result_of(pthread_cond_init((pthread_cond_t *)condition, NULL)); }

void cnd_destroy(cnd_t *condition) { pthread_cond_destroy((pthread_cond_t *)condition); }

int cnd_wait(cnd_t *condition, mtx_t *mutex) {
    return result_of(pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex));
}

int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict deadline) {
    return result_of(pthread_cond_timedwait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, deadline));
}

int cnd_signal(cnd_t *condition) { return result_of(pthread_cond_signal((pthread_cond_t *)condition)); }

int cnd_broadcast(cnd_t *condition) { return result_of(pthread_cond_broadcast((pthread_cond_t *)condition)); }

int tss_create(tss_t *key, tss_dtor_t destructor) { return result_of(pthread_key_create(key, destructor)); }

void tss_delete(tss_t key) { pthread_key_delete(key); }

void *tss_get(tss_t key) { return pthread_getspecific(key); }

int tss_set(tss_t key, void *value) { return result_of(pthread_setspecific(key, value)); }

void call_once(once_flag *flag, void (*routine)(void)) { pthread_once((pthread_once_t *)flag, routine); }
