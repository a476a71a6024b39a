"""Misuse of the objects of the C library: initialising what is in use."""

from __future__ import annotations

from pathlib import Path

import pytest

import mazurka

HEADERS = "#include <pthread.h>\n#include <semaphore.h>\n#include <stdatomic.h>\n#include <threads.h>\n"
TWICE = "was initialised before and not destroyed"


def bug(tmp_path: Path, text: str, *, uninitialised: bool = True) -> str | None:
    file = tmp_path / "program.c"
    file.write_text(HEADERS + text)
    result = mazurka.check(file, uninitialised=uninitialised)
    assert result.bug is None or result.bug.kind == "sync"
    return result.bug.message if result.bug else None


@pytest.mark.parametrize(
    ("type", "initialise", "destroy", "name"),
    [
        ("pthread_mutex_t", "pthread_mutex_init(&object, 0)", "pthread_mutex_destroy(&object)", "a mutex"),
        ("mtx_t", "mtx_init(&object, mtx_plain)", "mtx_destroy(&object)", "a mutex"),
        ("pthread_rwlock_t", "pthread_rwlock_init(&object, 0)", "pthread_rwlock_destroy(&object)", "a read-write lock"),
        ("pthread_cond_t", "pthread_cond_init(&object, 0)", "pthread_cond_destroy(&object)", "a condition variable"),
        ("cnd_t", "cnd_init(&object)", "cnd_destroy(&object)", "a condition variable"),
        ("pthread_barrier_t", "pthread_barrier_init(&object, 0, 2)", "pthread_barrier_destroy(&object)", "a barrier"),
        ("sem_t", "sem_init(&object, 0, 1)", "sem_destroy(&object)", "a semaphore"),
    ],
)
def test_what_was_initialised_must_be_destroyed_first(
    tmp_path: Path, type: str, initialise: str, destroy: str, name: str
) -> None:
    for where in (f"static {type} object; int main(void) {{", f"int main(void) {{ {type} object;"):
        assert bug(tmp_path, f"{where} {initialise}; {initialise}; return 0; }}") == f"initialising {name} that {TWICE}"
        assert bug(tmp_path, f"{where} {initialise}; {destroy}; {initialise}; return 0; }}") is None
    # A variable of a block is another one in each round, one around the loop is not; whether or not what nobody wrote
    # is looked for.
    inside = f"int main(void) {{ for (int i = 0; i < 3; i++) {{ {type} object; {initialise}; }} return 0; }}"
    around = f"int main(void) {{ {type} object; for (int i = 0; i < 3; i++) {{ {initialise}; }} return 0; }}"
    for uninitialised in (True, False):
        assert bug(tmp_path, inside, uninitialised=uninitialised) is None
        assert bug(tmp_path, around, uninitialised=uninitialised) == f"initialising {name} that {TWICE}"


THREADS = """\
{type} object;
atomic_int held, done;
void *other(void *unused) {{ {hold}; return 0; }}
int main(void) {{
    pthread_t thread;
    {initialise};
    pthread_create(&thread, 0, other, 0);
    __VERIFIER_assume(held);
    {initialise};
    done = 1;
    pthread_join(thread, 0);
    return 0;
}}
"""


@pytest.mark.parametrize(
    ("type", "initialise", "hold", "message"),
    [
        ("pthread_mutex_t", "pthread_mutex_init(&object, 0)",
         "pthread_mutex_lock(&object); held = 1; __VERIFIER_assume(done)", "a mutex that is locked"),
        ("pthread_rwlock_t", "pthread_rwlock_init(&object, 0)",
         "pthread_rwlock_rdlock(&object); held = 1; __VERIFIER_assume(done)", "a read-write lock that is locked"),
        ("pthread_spinlock_t", "pthread_spin_init(&object, 0)",
         "pthread_spin_lock(&object); held = 1; __VERIFIER_assume(done)", "a spinlock that another thread holds"),
    ],
)  # fmt: skip
def test_what_another_thread_holds(tmp_path: Path, type: str, initialise: str, hold: str, message: str) -> None:
    text = "void __VERIFIER_assume(int);\n" + THREADS.format(type=type, initialise=initialise, hold=hold)
    assert bug(tmp_path, text) == f"initialising {message}"


def test_what_threads_wait_for(tmp_path: Path) -> None:
    text = """\
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c;
int waiting;
void __VERIFIER_assume(int);
void *other(void *unused) {
    pthread_mutex_lock(&m);
    waiting = 1;
    pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void) {
    pthread_t thread;
    pthread_cond_init(&c, 0);
    pthread_create(&thread, 0, other, 0);
    pthread_mutex_lock(&m);
    __VERIFIER_assume(waiting);
    pthread_cond_init(&c, 0);
    return 0;
}
"""
    assert bug(tmp_path, text) == "initialising a condition variable on which threads wait"
