"""What the functions and types of the C library are: which of them takes a lock, waits, or creates a thread.

The models in library/ say what a function does; this says what it is for, to whoever tells an execution, describes a
program to a solver, or builds one that follows a schedule.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

# How the register is called that decides whether a weak compare-exchange fails without a reason.
SPURIOUS = "spurious"

Thing = Literal[
    "mutex", "rwlock", "spinlock", "semaphore", "condition", "barrier", "once", "thread", "key", "process", "heap",
    "section", "function", "futex",
]  # fmt: skip
# "timed" is "try" with a deadline, or a wait with one. "call": it calls a function of the program.
Action = Literal[
    "init", "destroy", "lock", "try", "timed", "unlock", "wait", "wake", "create", "join", "detach", "end", "free",
    "call",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Role:
    """What a function does to which kind of thing. scheduled: native programs that follow a schedule have it in a form
    of their own (constrained/enforce/runtime/operations.c)."""

    action: Action
    thing: Thing
    scheduled: bool


# Those that are scheduled come first, others after them.
_TABLE: tuple[tuple[Thing, Action, str, str], ...] = (
    ("mutex", "init", "pthread_mutex_init mtx_init", ""),
    ("mutex", "destroy", "pthread_mutex_destroy mtx_destroy", ""),
    ("mutex", "lock", "pthread_mutex_lock mtx_lock", ""),
    ("mutex", "try", "pthread_mutex_trylock mtx_trylock", ""),
    ("mutex", "timed", "", "pthread_mutex_timedlock pthread_mutex_clocklock mtx_timedlock"),
    ("mutex", "unlock", "pthread_mutex_unlock mtx_unlock", ""),
    ("rwlock", "init", "", "pthread_rwlock_init"),
    ("rwlock", "destroy", "", "pthread_rwlock_destroy"),
    ("rwlock", "lock", "pthread_rwlock_rdlock pthread_rwlock_wrlock", ""),
    ("rwlock", "try", "pthread_rwlock_tryrdlock pthread_rwlock_trywrlock", ""),
    ("rwlock", "timed", "", "pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock"),
    ("rwlock", "timed", "", "pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock"),
    ("rwlock", "unlock", "pthread_rwlock_unlock", ""),
    ("spinlock", "init", "", "pthread_spin_init"),
    ("spinlock", "destroy", "", "pthread_spin_destroy"),
    ("spinlock", "lock", "pthread_spin_lock", ""),
    ("spinlock", "try", "pthread_spin_trylock", ""),
    ("spinlock", "unlock", "pthread_spin_unlock", ""),
    ("semaphore", "init", "", "sem_init"),
    ("semaphore", "destroy", "", "sem_destroy"),
    ("semaphore", "wait", "sem_wait", ""),
    ("semaphore", "try", "sem_trywait", ""),
    ("semaphore", "timed", "", "sem_timedwait sem_clockwait"),
    ("semaphore", "wake", "sem_post", ""),
    ("condition", "init", "pthread_cond_init cnd_init", ""),
    ("condition", "destroy", "pthread_cond_destroy cnd_destroy", ""),
    ("condition", "wait", "pthread_cond_wait cnd_wait", ""),
    ("condition", "timed", "", "pthread_cond_timedwait pthread_cond_clockwait cnd_timedwait"),
    ("condition", "wake", "pthread_cond_signal pthread_cond_broadcast cnd_signal cnd_broadcast", ""),
    ("barrier", "init", "pthread_barrier_init", ""),
    ("barrier", "destroy", "pthread_barrier_destroy", ""),
    ("barrier", "wait", "pthread_barrier_wait", ""),
    ("once", "call", "pthread_once call_once", ""),
    ("once", "lock", "", "__cxa_guard_acquire"),
    ("once", "unlock", "", "__cxa_guard_release"),
    ("thread", "create", "pthread_create thrd_create", ""),
    ("thread", "join", "pthread_join thrd_join", ""),
    ("thread", "try", "", "pthread_tryjoin_np"),
    ("thread", "timed", "", "pthread_timedjoin_np"),
    ("thread", "detach", "pthread_detach thrd_detach", ""),
    ("thread", "end", "pthread_exit thrd_exit", ""),
    ("thread", "wake", "", "pthread_cancel"),
    ("key", "create", "", "pthread_key_create tss_create"),
    ("process", "end", "exit _exit", "_Exit quick_exit"),
    ("heap", "free", "free", ""),
    ("futex", "wait", "", "syscall"),
    ("section", "lock", "__VERIFIER_atomic_begin", ""),
    ("section", "unlock", "", "__VERIFIER_atomic_end"),
    ("function", "call", "", "qsort bsearch atexit"),
)

ROLES = {
    name: Role(action, thing, scheduled)
    for thing, action, *names in _TABLE
    for scheduled, some in zip((True, False), names, strict=True)
    for name in some.split()
}
SCHEDULED = frozenset(name for name, role in ROLES.items() if role.scheduled)

THREAD_TYPES = frozenset(("pthread_t", "thrd_t", "__libcpp_thread_t", "__libcpp_thread_id"))
# The insides of these are the library's business.
OPAQUE_TYPES = frozenset((
    "pthread_mutex_t", "pthread_mutexattr_t", "mtx_t", "pthread_rwlock_t", "pthread_rwlockattr_t",
    "pthread_spinlock_t", "sem_t", "pthread_cond_t", "pthread_condattr_t", "cnd_t", "pthread_barrier_t",
    "pthread_barrierattr_t", "pthread_once_t", "once_flag", "pthread_key_t", "pthread_attr_t",
    "__libcpp_mutex_t", "__libcpp_recursive_mutex_t", "__libcpp_condvar_t", "__libcpp_exec_once_flag",
    "__libcpp_tls_key",
))  # fmt: skip


def operations(*actions: Action, of: Collection[Thing]) -> frozenset[str]:
    """The functions that do one of the actions to one of the things."""
    return frozenset(name for name, role in ROLES.items() if role.thing in of and role.action in actions)
