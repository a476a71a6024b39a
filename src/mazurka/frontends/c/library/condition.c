/* Condition variables.
 *
 * A condition variable is the set of the threads that wait for it, one bit each. Waiting is two steps:
 *   1. release the mutex and enter the set;
 *   2. once signalled, take the mutex again.
 * A signal takes any one thread out of the set (all possibilities are explored) and marks it as signalled in the
 * thread's own control block, which nobody else reads. So being signalled and taking the mutex need no steps of their
 * own: between the two nothing could happen that depends on the first.
 *
 * A timed wait that is not yet signalled may give up at any time. That is a step of its own, which takes the thread out
 * of the set before the mutex is taken again: a signal in between goes to another thread or to nobody, as POSIX allows.
 * Waiting longer is the same step taken later, so that no choice has to be explored. A thread that has been signalled
 * never times out: it would lose the signal for the others. (POSIX allows that; the C library makes up for it with
 * another signal.)
 *
 * A recursive mutex is released by one level, as the C library does.
 *
 * Threads wake up without a signal only if that is asked for, and then not twice in a row for the same condition
 * variable: with more, no loop around a wait would have finitely many executions. Where such a loop only looks whether it
 * has to go on waiting, nothing is lost: to be woken again later is to be woken later. Whether a wait will end so is
 * chosen at its beginning, since it may as well never happen; leaving the set of waiters is then a step that needs no
 * signal. (Those in which a signal comes first are blocked: they are the same as without that choice.) */
#include "cancelling.h"
#include "mutex.h"
#include "timeout.h"

struct condition {
    uint64_t waiters;
    void *mark;
};

static void require_usable(uint64_t waiters) {
    if (waiters & DESTROYED_SET)
        __mazurka_fail("sync", "use of a condition variable that was destroyed or never initialised");
}

int pthread_cond_init(pthread_cond_t *restrict object, const pthread_condattr_t *restrict attributes) {
    struct condition *condition = (struct condition *)object;
    (void)attributes;
    __mazurka_atomic_begin();
    if (is_marked(&condition->mark)) {
        if (condition->waiters)
            __mazurka_fail("sync", "initialising a condition variable on which threads wait");
        __mazurka_fail("sync", "initialising a condition variable that was initialised before and not destroyed");
    }
    condition->mark = &condition->mark;
    condition->waiters = 0;
    __mazurka_atomic_end();
    return 0;
}

int pthread_cond_destroy(pthread_cond_t *object) {
    struct condition *condition = (struct condition *)object;
    __mazurka_atomic_begin();
    require_usable(condition->waiters);
    if (condition->waiters)
        __mazurka_fail("sync", "destroying a condition variable on which threads wait");
    condition->waiters = DESTROYED_SET;
    condition->mark = NULL;
    __mazurka_atomic_end();
    return 0;
}

/* Step 1 of waiting. */
static int start_waiting(struct condition *condition, struct mutex *mutex, const struct mazurka_thread *self) {
    __mazurka_atomic_begin();
    require_usable(condition->waiters);
    if (mutex->owner != self && (mutex->kind == NORMAL || mutex->kind == ADAPTIVE))
        __mazurka_fail("sync", "waiting for a condition variable without holding the mutex");
    int result = unlock_in_section(mutex);
    if (result == 0)
        condition->waiters |= set_of(self);
    __mazurka_atomic_end();
    return result;
}

/* The condition variable that has last let this thread go on without a signal, unless another wait has ended since. */
static _Thread_local const struct condition *without_signal;

static _Bool may_wake_again(const struct condition *condition) {
    const struct condition *last = without_signal;
    without_signal = NULL;
    return last != condition;
}

static _Bool wakes_without_signal(struct condition *condition, struct mazurka_thread *self) {
    if (!may_wake_again(condition))
        return 0;
    if (!__mazurka_choose(2))
        return 0;
    __mazurka_atomic_begin();
    __mazurka_assume(!self->signalled);
    condition->waiters &= ~set_of(self);
    __mazurka_atomic_end();
    without_signal = condition;
    return 1;
}

int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex) {
    struct mazurka_thread *self = __mazurka_self();
    CANCELLATION_POINT();
    int result = start_waiting((struct condition *)condition, (struct mutex *)mutex, self);
    if (result)
        return result;
    if (__mazurka_leeway("spurious")) {
        if (wakes_without_signal((struct condition *)condition, self))
            return pthread_mutex_lock(mutex);
    }
    __mazurka_atomic_begin();
    if (__mazurka_named("pthread_cancel")) {
        /* A signal that has come already would be lost. What cleans up finds the mutex locked. */
        if (!self->signalled && __mazurka_cancelled_in_section(0)) {
            ((struct condition *)condition)->waiters &= ~set_of(self);
            lock_in_section((struct mutex *)mutex);
            __mazurka_atomic_end();
            __mazurka_end_cancelled();
        }
    }
    AWAIT_WAKEUP(self, "condition variable", condition);
    lock_in_section((struct mutex *)mutex);
    __mazurka_atomic_end();
    return 0;
}

int pthread_cond_timedwait(pthread_cond_t *restrict object, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict deadline) {
    struct condition *condition = (struct condition *)object;
    struct mazurka_thread *self = __mazurka_self();
    if (timed_out(deadline) == EINVAL)
        return EINVAL;
    CANCELLATION_POINT();
    int result = start_waiting(condition, (struct mutex *)mutex, self);
    if (result)
        return result;
    __mazurka_atomic_begin();
    if (self->signalled) {
        self->signalled = 0;
        lock_in_section((struct mutex *)mutex);
    } else {
        condition->waiters &= ~set_of(self);
        result = ETIMEDOUT;
    }
    __mazurka_atomic_end();
    if (__mazurka_leeway("spurious")) {
        _Bool again = may_wake_again(condition);
        if (result) {
            if (again) {
                if (__mazurka_choose(2)) {
                    without_signal = condition;
                    return pthread_mutex_lock(mutex);
                }
            }
        }
    }
    if (result) {
        __mazurka_pass_time(deadline);
        pthread_mutex_lock(mutex);
    }
    return result;
}

int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, clockid_t clock,
                           const struct timespec *restrict deadline) {
    (void)clock;
    return pthread_cond_timedwait(condition, mutex, deadline);
}

int pthread_cond_signal(pthread_cond_t *object) {
    struct condition *condition = (struct condition *)object;
    __mazurka_atomic_begin();
    uint64_t waiters = condition->waiters;
    require_usable(waiters);
    if (waiters) {
        unsigned count = (unsigned)__builtin_popcountll(waiters);
        unsigned skipped = count > 1 ? __mazurka_choose(count) : 0;
        uint64_t rest = waiters;
        for (; skipped > 0; skipped--)
            rest &= rest - 1;
        condition->waiters = waiters & ~(rest & -rest);
        wake((unsigned)__builtin_ctzll(rest));
    }
    __mazurka_atomic_end();
    return 0;
}

int pthread_cond_broadcast(pthread_cond_t *object) {
    struct condition *condition = (struct condition *)object;
    __mazurka_atomic_begin();
    uint64_t waiters = condition->waiters;
    require_usable(waiters);
    if (waiters) {
        condition->waiters = 0;
        for (; waiters; waiters &= waiters - 1)
            wake((unsigned)__builtin_ctzll(waiters));
    }
    __mazurka_atomic_end();
    return 0;
}

/* Attributes: which clock, and sharing between processes. Neither has an effect here. */

int pthread_condattr_init(pthread_condattr_t *attributes) {
    *(int *)attributes = 0;
    return 0;
}

int pthread_condattr_destroy(pthread_condattr_t *attributes) {
    (void)attributes;
    return 0;
}

int pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock) {
    (void)attributes;
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC ? 0 : EINVAL;
}

int pthread_condattr_setpshared(pthread_condattr_t *attributes, int shared) {
    (void)attributes;
    return shared == PTHREAD_PROCESS_PRIVATE || shared == PTHREAD_PROCESS_SHARED ? 0 : EINVAL;
}
