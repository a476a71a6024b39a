/* Threads: creation, end, join, detach, and what belongs to a thread.
 *
 * A pthread_t is the address of the thread's control block. The machine sets its `done` word when the thread ends;
 * joining is a step that is enabled from then on. Creation never fails for lack of resources.
 *
 * The new thread's handle is stored after the thread was created: it may run before its creator knows its name, as
 * POSIX allows. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "cancelling.h"
#include "keys.h"
#include "waiting.h"

struct attributes {
    int detached; /* all other attributes (stacks, priorities) have no effect */
};

static _Thread_local void *returned_value;

/* The value and the end are one step. */
static _Noreturn void end_with(void *value) {
    __mazurka_destroy_thread_data();
    __mazurka_atomic_begin();
    __mazurka_self()->value = value;
    __mazurka_end_thread();
}

/* When all has been cleaned up (cancelling.c). */
_Noreturn void __mazurka_end_thread_with_value(void) { end_with(returned_value); }

void __mazurka_clean_up(void);

_Noreturn void pthread_exit(void *value) {
    if (__mazurka_named("__pthread_register_cancel")) {
        returned_value = value;
        __mazurka_clean_up();
    }
    end_with(value);
}

static void run(void *(*start)(void *), void *argument) { end_with(start(argument)); }

int pthread_create(pthread_t *restrict handle, const pthread_attr_t *restrict attributes, void *(*start)(void *),
                   void *restrict argument) {
    _Bool detached = attributes && ((const struct attributes *)attributes)->detached;
    struct mazurka_thread *thread = __mazurka_spawn(run, start, argument);
    if (detached)
        thread->detached = 1;
    *handle = (pthread_t)thread;
    return 0;
}

/* For use in an atomic section. */
static struct mazurka_thread *require_joinable(pthread_t handle) {
    struct mazurka_thread *thread = (struct mazurka_thread *)handle;
    if (thread == NULL || !is_thread_or_null(thread))
        __mazurka_fail("sync", "not the handle of a thread");
    if (thread->joined)
        __mazurka_fail("sync", "the thread has been joined before");
    if (thread->detached)
        __mazurka_fail("sync", "the thread is detached");
    return thread;
}

int pthread_join(pthread_t handle, void **value) {
    if ((struct mazurka_thread *)handle == __mazurka_self())
        __mazurka_fail("sync", "a thread joins itself");
    CANCELLATION_POINT();
    __mazurka_atomic_begin();
    struct mazurka_thread *thread = require_joinable(handle);
    if (__mazurka_named("pthread_cancel")) {
        if (__mazurka_cancelled_in_section(thread->done != 0)) {
            __mazurka_atomic_end();
            __mazurka_end_cancelled();
        }
    }
    __mazurka_await(thread->done != 0, "end of thread", thread, thread);
    thread->joined = slot_of(__mazurka_self());
    void *returned = thread->value;
    __mazurka_atomic_end();
    if (value)
        *value = returned;
    return 0;
}

/* A timed join is one that tries: waiting longer is the same step, taken later. */
static int try_join(pthread_t handle, void **value, int if_running) {
    void *returned = NULL;
    int result = 0;
    __mazurka_atomic_begin();
    struct mazurka_thread *thread = require_joinable(handle);
    if (thread->done) {
        thread->joined = slot_of(__mazurka_self());
        returned = thread->value;
    } else {
        result = if_running;
    }
    __mazurka_atomic_end();
    if (result == 0 && value)
        *value = returned;
    return result;
}

int pthread_tryjoin_np(pthread_t handle, void **value) { return try_join(handle, value, EBUSY); }

int pthread_timedjoin_np(pthread_t handle, void **value, const struct timespec *deadline) {
    (void)deadline;
    return try_join(handle, value, ETIMEDOUT);
}

int pthread_detach(pthread_t handle) {
    __mazurka_atomic_begin();
    require_joinable(handle)->detached = 1;
    __mazurka_atomic_end();
    return 0;
}

pthread_t pthread_self(void) { return (pthread_t)__mazurka_self(); }

int pthread_equal(pthread_t left, pthread_t right) { return left == right; }

int pthread_setname_np(pthread_t handle, const char *name) {
    (void)handle;
    (void)name;
    return 0;
}

/* Every interleaving is explored anyway: giving way to others adds nothing. */

int sched_yield(void) { return 0; }

int pthread_yield(void) { return 0; }

/* Attributes. */

int pthread_attr_init(pthread_attr_t *attributes) {
    ((struct attributes *)attributes)->detached = 0;
    return 0;
}

int pthread_attr_destroy(pthread_attr_t *attributes) {
    (void)attributes;
    return 0;
}

int pthread_attr_setdetachstate(pthread_attr_t *attributes, int state) {
    if (state != PTHREAD_CREATE_JOINABLE && state != PTHREAD_CREATE_DETACHED)
        return EINVAL;
    ((struct attributes *)attributes)->detached = state == PTHREAD_CREATE_DETACHED;
    return 0;
}

int pthread_attr_getdetachstate(const pthread_attr_t *attributes, int *state) {
    *state = ((const struct attributes *)attributes)->detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE;
    return 0;
}

int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t size) {
    (void)attributes;
    (void)size;
    return 0;
}

int pthread_attr_setguardsize(pthread_attr_t *attributes, size_t size) {
    (void)attributes;
    (void)size;
    return 0;
}

int pthread_attr_setscope(pthread_attr_t *attributes, int scope) {
    (void)attributes;
    (void)scope;
    return 0;
}

int pthread_attr_setschedpolicy(pthread_attr_t *attributes, int policy) {
    (void)attributes;
    (void)policy;
    return 0;
}

int pthread_attr_setinheritsched(pthread_attr_t *attributes, int inherit) {
    (void)attributes;
    (void)inherit;
    return 0;
}

int pthread_attr_setschedparam(pthread_attr_t *restrict attributes, const struct sched_param *restrict parameters) {
    (void)attributes;
    (void)parameters;
    return 0;
}
