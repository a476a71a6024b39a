/* Cancellation, as long as it is deferred, and the handlers that clean up.
 *
 * pthread_cancel sets a word in the control block of the thread. The thread looks at it where it comes to one of the
 * functions that POSIX names, and, if it has to wait there, while it waits: then the word is part of what it waits for.
 * A thread that could go on and is cancelled at the same time may do either.
 *
 * pthread_cleanup_push is a macro of the header, which sets a jump for each handler: what ends a thread jumps to the
 * latest, which then goes on to the one before. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>

#include "cancelling.h"

static _Thread_local _Bool disabled;

static _Bool is_requested(void) { return !disabled && __mazurka_self()->cancelled; }

_Bool __mazurka_cancelled_in_section(_Bool ready) { return is_requested() && (!ready || __mazurka_choose(2)); }

_Noreturn void __mazurka_end_cancelled(void) { pthread_exit(PTHREAD_CANCELED); }

void __mazurka_cancellation_point(void) {
    if (disabled)
        return;
    __mazurka_atomic_begin();
    unsigned cancelled = __mazurka_self()->cancelled;
    __mazurka_atomic_end();
    if (cancelled)
        __mazurka_end_cancelled();
}

void pthread_testcancel(void) { CANCELLATION_POINT(); }

int pthread_cancel(pthread_t handle) {
    struct mazurka_thread *thread = (struct mazurka_thread *)handle;
    if (thread == NULL || !is_thread_or_null(thread))
        __mazurka_fail("sync", "not the handle of a thread");
    __mazurka_atomic_begin();
    if (thread->joined)
        __mazurka_fail("sync", "the thread has been joined before");
    thread->cancelled = 1;
    __mazurka_atomic_end();
    return 0;
}

int pthread_setcancelstate(int state, int *old) {
    if (old)
        *old = disabled ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
    if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE)
        return EINVAL;
    disabled = state == PTHREAD_CANCEL_DISABLE;
    return 0;
}

int pthread_setcanceltype(int type, int *old) {
    if (old)
        *old = PTHREAD_CANCEL_DEFERRED;
    if (type == PTHREAD_CANCEL_ASYNCHRONOUS)
        __mazurka_fail("limit", "asynchronous cancellation is not modelled; let it be deferred");
    return type == PTHREAD_CANCEL_DEFERRED ? 0 : EINVAL;
}

/* ------------------------------------------------------------------------------------------------ cleaning up */

static _Thread_local __pthread_unwind_buf_t *latest;

void __mazurka_clean_up(void) {
    __pthread_unwind_buf_t *buffer = latest;
    if (buffer) {
        latest = buffer->__pad[0];
        longjmp((struct __jmp_buf_tag *)buffer, 1);
    }
}

void __pthread_register_cancel(__pthread_unwind_buf_t *buffer) {
    buffer->__pad[0] = latest;
    latest = buffer;
}

void __pthread_unregister_cancel(__pthread_unwind_buf_t *buffer) { latest = buffer->__pad[0]; }

_Noreturn void __mazurka_end_thread_with_value(void);

_Noreturn void __pthread_unwind_next(__pthread_unwind_buf_t *buffer) {
    (void)buffer;
    __mazurka_clean_up();
    __mazurka_end_thread_with_value();
}
