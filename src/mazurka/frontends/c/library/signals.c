/* Signals. None comes from outside or from other threads: a handler runs where its thread raises the signal itself, as
 * a call. One that is blocked runs when it is unblocked. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "waiting.h"

enum { SIGNALS = 65 };

static struct sigaction actions[SIGNALS];
static _Thread_local uint64_t blocked, pending;

INLINE uint64_t bit(int number) { return (uint64_t)1 << (number - 1); }

static int failed(int error) {
    errno = error;
    return -1;
}

static _Bool is_signal(int number) { return number > 0 && number < SIGNALS; }

int sigaction(int number, const struct sigaction *restrict new, struct sigaction *restrict old) {
    if (!is_signal(number) || ((number == SIGKILL || number == SIGSTOP) && new))
        return failed(EINVAL);
    __mazurka_atomic_begin();
    struct sigaction before = actions[number];
    if (new)
        actions[number] = *new;
    __mazurka_atomic_end();
    if (old)
        *old = before;
    return 0;
}

sighandler_t signal(int number, sighandler_t handler) {
    struct sigaction new = {0}, old;
    new.sa_handler = handler;
    new.sa_flags = SA_RESTART;
    return sigaction(number, &new, &old) ? SIG_ERR : old.sa_handler;
}

static void deliver(int number) {
    struct sigaction action;
    __mazurka_atomic_begin();
    action = actions[number];
    if ((action.sa_flags & (int)SA_RESETHAND) && action.sa_handler != SIG_IGN)
        actions[number].sa_handler = SIG_DFL;
    __mazurka_atomic_end();
    if (action.sa_handler == SIG_IGN)
        return;
    if (action.sa_handler == SIG_DFL) {
        if (number == SIGCHLD || number == SIGURG || number == SIGWINCH || number == SIGCONT)
            return;
        __mazurka_fail("abort", "a signal that nobody handles ends the process");
    }
    uint64_t before = blocked;
    blocked |= action.sa_mask.__val[0] | (action.sa_flags & SA_NODEFER ? 0 : bit(number));
    if (action.sa_flags & SA_SIGINFO) {
        siginfo_t info;
        memset(&info, 0, sizeof info);
        info.si_signo = number;
        info.si_pid = getpid();
        action.sa_sigaction(number, &info, NULL);
    } else {
        action.sa_handler(number);
    }
    blocked = before;
}

static void deliver_pending(void) {
    for (uint64_t ready; (ready = pending & ~blocked) != 0;) {
        int number = __builtin_ctzll(ready) + 1;
        pending &= ~bit(number);
        deliver(number);
    }
}

int raise(int number) {
    if (!is_signal(number))
        return failed(EINVAL);
    if (blocked & bit(number))
        pending |= bit(number);
    else
        deliver(number);
    return 0;
}

int kill(pid_t process, int number) {
    if (process != getpid() && process != 0)
        return failed(ESRCH);
    return number ? raise(number) : 0;
}

int pthread_kill(pthread_t thread, int number) {
    if (number == 0)
        return 0;
    if (thread != pthread_self())
        __mazurka_fail("limit", "a signal to another thread is not modelled");
    return raise(number) ? errno : 0;
}

int pthread_sigmask(int how, const sigset_t *restrict new, sigset_t *restrict old) {
    uint64_t before = blocked;
    if (new) {
        uint64_t set = new->__val[0] & ~(bit(SIGKILL) | bit(SIGSTOP));
        if (how == SIG_BLOCK)
            blocked |= set;
        else if (how == SIG_UNBLOCK)
            blocked &= ~set;
        else if (how == SIG_SETMASK)
            blocked = set;
        else
            return EINVAL;
    }
    if (old) {
        memset(old, 0, sizeof *old);
        old->__val[0] = before;
    }
    deliver_pending();
    return 0;
}

int sigprocmask(int how, const sigset_t *restrict new, sigset_t *restrict old) {
    int error = pthread_sigmask(how, new, old);
    return error ? failed(error) : 0;
}

int sigpending(sigset_t *set) {
    memset(set, 0, sizeof *set);
    set->__val[0] = pending;
    return 0;
}

int sigemptyset(sigset_t *set) {
    memset(set, 0, sizeof *set);
    return 0;
}

int sigfillset(sigset_t *set) {
    memset(set, 0xff, sizeof *set);
    return 0;
}

int sigaddset(sigset_t *set, int number) {
    if (!is_signal(number))
        return failed(EINVAL);
    set->__val[0] |= bit(number);
    return 0;
}

int sigdelset(sigset_t *set, int number) {
    if (!is_signal(number))
        return failed(EINVAL);
    set->__val[0] &= ~bit(number);
    return 0;
}

int sigismember(const sigset_t *set, int number) {
    return is_signal(number) ? (set->__val[0] & bit(number)) != 0 : failed(EINVAL);
}

/* It never goes off. */
unsigned alarm(unsigned seconds) {
    (void)seconds;
    return 0;
}
