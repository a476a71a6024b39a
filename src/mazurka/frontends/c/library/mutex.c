/* Mutexes.
 *
 * A mutex is a word: its owner. Locking is one step that is enabled while the word is null and writes the owner,
 * unlocking is one step that writes null. A failing trylock only reads, so that failures commute.
 *
 * A timed lock is a trylock: the scheduler may delay the step for as long as it likes, so that waiting for the mutex
 * and then getting it is the step taken later, and running out of time is the step taken while somebody holds it.
 * (A lock that is free is taken even if the time has run out: POSIX forbids to time out then.)
 *
 * Unlocking what one does not hold returns EPERM where POSIX defines it (recursive and error-checking mutexes) and is
 * a bug otherwise. */
#include "mutex.h"

#include "timeout.h"

static void **mark_of(struct mutex *mutex) { return (void **)(mutex + 1); }
_Static_assert(sizeof(struct mutex) + sizeof(void *) <= sizeof(pthread_mutex_t), "room for the mark");

int pthread_mutex_init(pthread_mutex_t *restrict object, const pthread_mutexattr_t *restrict attributes) {
    struct mutex *mutex = (struct mutex *)object;
    void **mark = mark_of(mutex);
    int kind = attributes ? *(const int *)attributes : NORMAL;
    __mazurka_atomic_begin();
    if (is_marked(mark)) {
        if (mutex->owner)
            __mazurka_fail("sync", "initialising a mutex that is locked");
        __mazurka_fail("sync", "initialising a mutex that was initialised before and not destroyed");
    }
    *mark = mark;
    mutex->owner = NULL;
    mutex->depth = 0;
    mutex->kind = kind;
    __mazurka_atomic_end();
    return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *object) {
    struct mutex *mutex = (struct mutex *)object;
    __mazurka_atomic_begin();
    require_usable_mutex(mutex->kind, mutex->owner);
    if (mutex->owner)
        __mazurka_fail("sync", "destroying a locked mutex");
    mutex->kind = DESTROYED;
    *mark_of(mutex) = NULL;
    __mazurka_atomic_end();
    return 0;
}

int pthread_mutex_lock(pthread_mutex_t *object) {
    __mazurka_atomic_begin();
    int result = lock_in_section((struct mutex *)object);
    __mazurka_atomic_end();
    return result;
}

int pthread_mutex_unlock(pthread_mutex_t *object) {
    __mazurka_atomic_begin();
    int result = unlock_in_section((struct mutex *)object);
    __mazurka_atomic_end();
    return result;
}

/* Lock if it is free (or recursive and ours). What a failure is called is the caller's business. */
static int try_lock(pthread_mutex_t *object, int if_own, int if_held) {
    struct mutex *mutex = (struct mutex *)object;
    struct mazurka_thread *self = __mazurka_self();
    int result = 0;
    __mazurka_atomic_begin();
    struct mazurka_thread *owner = mutex->owner;
    int kind = mutex->kind;
    require_usable_mutex(kind, owner);
    if (owner == NULL) {
        __mazurka_claim(mutex, "try");
        mutex->owner = self;
    } else if (owner != self) {
        __mazurka_claim(mutex, "look");
        __mazurka_relax();
        result = if_held;
    } else {
        __mazurka_claim(mutex, "keep");
        if (kind == RECURSIVE)
            mutex->depth++;
        else
            result = kind == ERRORCHECK ? if_own : if_held;
    }
    __mazurka_atomic_end();
    return result;
}

int pthread_mutex_trylock(pthread_mutex_t *mutex) { return try_lock(mutex, EBUSY, EBUSY); }

int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict deadline) {
    int result = try_lock(mutex, EDEADLK, ETIMEDOUT);
    if (result != ETIMEDOUT)
        return result;
    __mazurka_pass_time(deadline);
    return timed_out(deadline);
}

int pthread_mutex_clocklock(pthread_mutex_t *restrict mutex, clockid_t clock,
                            const struct timespec *restrict deadline) {
    (void)clock;
    return pthread_mutex_timedlock(mutex, deadline);
}

/* Attributes: an int, the kind. Sharing between processes and priorities change nothing here, where there is one
 * process and every order of the threads is explored. */

int pthread_mutexattr_init(pthread_mutexattr_t *attributes) {
    *(int *)attributes = NORMAL;
    return 0;
}

int pthread_mutexattr_destroy(pthread_mutexattr_t *attributes) {
    *(int *)attributes = DESTROYED;
    return 0;
}

int pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int kind) {
    if (kind < NORMAL || kind > ADAPTIVE)
        return EINVAL;
    *(int *)attributes = kind;
    return 0;
}

int pthread_mutexattr_gettype(const pthread_mutexattr_t *restrict attributes, int *restrict kind) {
    *kind = *(const int *)attributes;
    return 0;
}

int pthread_mutexattr_setpshared(pthread_mutexattr_t *attributes, int shared) {
    (void)attributes;
    return shared == PTHREAD_PROCESS_PRIVATE || shared == PTHREAD_PROCESS_SHARED ? 0 : EINVAL;
}

int pthread_mutexattr_setprotocol(pthread_mutexattr_t *attributes, int protocol) {
    (void)attributes;
    return protocol >= PTHREAD_PRIO_NONE && protocol <= PTHREAD_PRIO_PROTECT ? 0 : EINVAL;
}
