/* Barriers.
 *
 * A barrier is the set of the threads that have arrived in this round. The last one to arrive empties the set and wakes
 * the others through their own control blocks. So a thread that leaves does not touch the barrier again: the next round
 * may have begun, and the barrier may be destroyed as soon as one thread has returned.
 *
 * The last one to arrive is also the one that is told to be the serial thread, as in the C library; POSIX does not say
 * which of them it is. */
#include <errno.h>
#include <pthread.h>

#include "waiting.h"

struct barrier {
    uint64_t waiters;
    unsigned count;
    void *mark;
};
_Static_assert(sizeof(struct barrier) <= sizeof(pthread_barrier_t), "layout");

static void require_usable(const struct barrier *barrier) {
    if (barrier->count == 0 || barrier->waiters & DESTROYED_SET)
        __mazurka_fail("sync", "use of a barrier that was destroyed or never initialised");
}

int pthread_barrier_init(pthread_barrier_t *restrict object, const pthread_barrierattr_t *restrict attributes,
                         unsigned count) {
    struct barrier *barrier = (struct barrier *)object;
    (void)attributes;
    if (count == 0)
        return EINVAL;
    __mazurka_atomic_begin();
    if (is_marked(&barrier->mark)) {
        if (barrier->waiters)
            __mazurka_fail("sync", "initialising a barrier at which threads wait");
        __mazurka_fail("sync", "initialising a barrier that was initialised before and not destroyed");
    }
    barrier->mark = &barrier->mark;
    barrier->waiters = 0;
    barrier->count = count;
    __mazurka_atomic_end();
    return 0;
}

int pthread_barrier_destroy(pthread_barrier_t *object) {
    struct barrier *barrier = (struct barrier *)object;
    __mazurka_atomic_begin();
    require_usable(barrier);
    if (barrier->waiters)
        __mazurka_fail("sync", "destroying a barrier at which threads wait");
    barrier->waiters = DESTROYED_SET;
    barrier->mark = NULL;
    __mazurka_atomic_end();
    return 0;
}

int pthread_barrier_wait(pthread_barrier_t *object) {
    struct barrier *barrier = (struct barrier *)object;
    struct mazurka_thread *self = __mazurka_self();
    __mazurka_atomic_begin();
    require_usable(barrier);
    uint64_t waiters = barrier->waiters;
    if ((unsigned)__builtin_popcountll(waiters) + 1 == barrier->count) {
        barrier->waiters = 0;
        for (; waiters; waiters &= waiters - 1)
            wake((unsigned)__builtin_ctzll(waiters));
        __mazurka_atomic_end();
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    barrier->waiters = waiters | set_of(self);
    __mazurka_atomic_end();
    __mazurka_atomic_begin();
    AWAIT_WAKEUP(self, "barrier", barrier);
    __mazurka_atomic_end();
    return 0;
}

/* Attributes: sharing between processes, which has no effect here. */

int pthread_barrierattr_init(pthread_barrierattr_t *attributes) {
    *(int *)attributes = 0;
    return 0;
}

int pthread_barrierattr_destroy(pthread_barrierattr_t *attributes) {
    (void)attributes;
    return 0;
}

int pthread_barrierattr_setpshared(pthread_barrierattr_t *attributes, int shared) {
    (void)attributes;
    return shared == PTHREAD_PROCESS_PRIVATE || shared == PTHREAD_PROCESS_SHARED ? 0 : EINVAL;
}
