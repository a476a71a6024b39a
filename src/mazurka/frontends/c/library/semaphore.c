/* Semaphores: a counter. A post adds to it without looking, so that posts commute; waiting is enabled while it is
 * positive. Timed waits are trywaits, for the reason given in mutex.c. There is no static initialiser, so that a
 * semaphore that was never initialised can be told from one with value 0. */
#include <errno.h>
#include <limits.h>
#include <semaphore.h>

#include "cancelling.h"
#include "timeout.h"
#include "waiting.h"

struct semaphore {
    unsigned value;
    unsigned state;
    void *mark;
};
_Static_assert(sizeof(struct semaphore) <= sizeof(sem_t), "layout");

enum { INITIALISED = 0x5e3a, DESTROYED = 0x5e3b };

static void require_usable(const struct semaphore *semaphore) {
    unsigned state = semaphore->state;
    if (state == INITIALISED)
        return;
    if (state == DESTROYED)
        __mazurka_fail("sync", "use of a destroyed semaphore");
    __mazurka_fail("sync", "use of a semaphore that was never initialised");
}

static unsigned value_of(const struct semaphore *semaphore) {
    unsigned value = semaphore->value;
    if (value > SEM_VALUE_MAX)
        __mazurka_fail("sync", "a semaphore was posted beyond SEM_VALUE_MAX");
    return value;
}

int sem_init(sem_t *object, int shared, unsigned value) {
    struct semaphore *semaphore = (struct semaphore *)object;
    (void)shared;
    if (value > SEM_VALUE_MAX) {
        errno = EINVAL;
        return -1;
    }
    __mazurka_atomic_begin();
    if (is_marked(&semaphore->mark))
        __mazurka_fail("sync", "initialising a semaphore that was initialised before and not destroyed");
    semaphore->mark = &semaphore->mark;
    semaphore->value = value;
    semaphore->state = INITIALISED;
    __mazurka_atomic_end();
    return 0;
}

int sem_destroy(sem_t *object) {
    struct semaphore *semaphore = (struct semaphore *)object;
    __mazurka_atomic_begin();
    require_usable(semaphore);
    semaphore->state = DESTROYED;
    semaphore->mark = NULL;
    __mazurka_atomic_end();
    return 0;
}

int sem_post(sem_t *object) {
    struct semaphore *semaphore = (struct semaphore *)object;
    __mazurka_atomic_begin();
    require_usable(semaphore);
    __atomic_fetch_add(&semaphore->value, 1, __ATOMIC_SEQ_CST);
    __mazurka_atomic_end();
    return 0;
}

int sem_wait(sem_t *object) {
    struct semaphore *semaphore = (struct semaphore *)object;
    CANCELLATION_POINT();
    __mazurka_atomic_begin();
    require_usable(semaphore);
    unsigned value = value_of(semaphore);
    if (__mazurka_named("pthread_cancel")) {
        if (__mazurka_cancelled_in_section(value > 0)) {
            __mazurka_atomic_end();
            __mazurka_end_cancelled();
        }
    }
    __mazurka_await(value > 0, "semaphore", semaphore, NULL);
    semaphore->value = value - 1;
    __mazurka_atomic_end();
    return 0;
}

static _Bool try_wait(struct semaphore *semaphore) {
    __mazurka_atomic_begin();
    require_usable(semaphore);
    unsigned value = value_of(semaphore);
    if (value > 0)
        semaphore->value = value - 1;
    else
        __mazurka_relax();
    __mazurka_atomic_end();
    return value > 0;
}

int sem_trywait(sem_t *semaphore) {
    if (try_wait((struct semaphore *)semaphore))
        return 0;
    errno = EAGAIN;
    return -1;
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict deadline) {
    CANCELLATION_POINT();
    if (try_wait((struct semaphore *)semaphore))
        return 0;
    __mazurka_pass_time(deadline);
    errno = timed_out(deadline);
    return -1;
}

int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict deadline) {
    (void)clock;
    return sem_timedwait(semaphore, deadline);
}

int sem_getvalue(sem_t *restrict object, int *restrict value) {
    struct semaphore *semaphore = (struct semaphore *)object;
    __mazurka_atomic_begin();
    require_usable(semaphore);
    unsigned now = value_of(semaphore);
    __mazurka_relax();
    __mazurka_atomic_end();
    *value = (int)now;
    return 0;
}
