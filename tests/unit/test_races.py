"""Data races: what is one, what orders accesses, and how they are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import mazurka
from mazurka import Verdict
from mazurka.executions.schedule import Schedule
from mazurka.program.builder import ProgramBuilder

PRELUDE = """\
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void __VERIFIER_assume(int condition);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
"""

MAIN = """\
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def check(text: str, **options: Any) -> mazurka.Result:
    Path("prelude.h").write_text(PRELUDE)
    Path("program.c").write_text(text)
    return mazurka.check("program.c", compiler_arguments=["-include", "prelude.h"], **options)


def replay(race: mazurka.Race) -> mazurka.Result:
    return mazurka.replay("program.c", race.schedule, compiler_arguments=["-include", "prelude.h"])


def threads(shared: str, one: str, two: str) -> str:
    """A program of two threads that begin after `shared`, in the lines 2 and 3."""
    functions = [f"void *{name}(void *unused) {{ {body}; return 0; }}" for name, body in (("one", one), ("two", two))]
    return "\n".join([shared, *functions, MAIN])


def races(text: str) -> set[str]:
    """The races of a program that has no bug: what on, and the line and kind of each access."""
    result = check(text)
    assert result.verdict is Verdict.OK, result.bug or result.reason
    all_told = [told(race) for race in result.races]
    assert len(set(all_told)) == len(all_told)
    return set(all_told)


def told(race: mazurka.Race) -> str:
    return f"{race.object}: " + ", ".join(
        sorted(f"{access.line} {access.kind}s" for access in (race.first, race.second))
    )


# --------------------------------------------------------------------------------------------- what is a race


@pytest.mark.parametrize(
    ("shared", "one", "two", "found"),
    [
        ("int x;", "x = 1", "return (void *)(long)x", {"x: 2 writes, 3 reads"}),
        ("int x;", "x = 1", "x = 2", {"x: 2 writes, 3 writes"}),
        ("int x;", "return (void *)(long)x", "return (void *)(long)x", set()),
        ("int x, y;", "x = 1", "y = 1", set()),
        # At least one of the two must not be atomic.
        ("atomic_int x;", "x = 1", "x = 2", set()),
        ("atomic_int x;", "x++", "x++", set()),
        (
            "atomic_int x;",
            "atomic_store_explicit(&x, 1, memory_order_relaxed)",
            "atomic_store_explicit(&x, 2, memory_order_relaxed)",
            set(),
        ),
        ("int x;", "__atomic_store_n(&x, 1, __ATOMIC_SEQ_CST)", "x = 2", {"x: 2 writes, 3 writes"}),
        ("int x;", "__atomic_fetch_add(&x, 1, __ATOMIC_RELAXED)", "int seen = x", {"x: 2 writes, 3 reads"}),
        ("volatile int x;", "x = 1", "x = 2", {"x: 2 writes, 3 writes"}),
        # Conflicts are by bytes.
        ("char x[8];", "x[0] = 1", "x[1] = 1", set()),
        ("char x[8];", "*(int *)x = 1", "x[3] = 1", {"x[3]: 2 writes, 3 writes"}),
        ("char x[8];", "*(int *)x = 1", "x[4] = 1", set()),
        ("struct { int p : 3, q : 3; } x;", "x.p = 1", "x.q = 1", {"x: 2 writes, 3 reads"}),
        ("struct { int p, q; } x, y;", "x.p = 1", "memcpy(&y, &x, sizeof y)", {"x.p: 2 writes, 3 reads"}),
        # What the library does with its own is its own business, and so is what exit ends.
        ("", 'printf("one\\n")', 'printf("two %d\\n", 2)', set()),
        ("", "free(malloc(8))", "free(malloc(8))", set()),
        ("int x;", "x = 1", "exit(0)", set()),
    ],
)
def test_what_is_a_race(shared: str, one: str, two: str, found: set[str]) -> None:
    assert races(threads(shared, one, two)) == found


def test_freeing_is_an_access() -> None:
    text = threads(
        "int *x; atomic_int seen;",
        "int y = *x; atomic_store_explicit(&seen, 1, memory_order_relaxed)",
        "__VERIFIER_assume(atomic_load_explicit(&seen, memory_order_relaxed)); free(x)",
    ).replace("pthread_t a, b;", "pthread_t a, b; x = malloc(4); *x = 1;")
    assert races(text) == {"int#1: 2 reads, 3 frees"}


def test_the_end_of_a_local_variable_is_no_access() -> None:
    text = """\
atomic_int seen;
void *one(void *x) { int y = *(int *)x; atomic_store_explicit(&seen, 1, memory_order_relaxed); return 0; }
void start(void) {
    pthread_t a;
    int local = 1;
    pthread_create(&a, 0, one, &local);
    __VERIFIER_assume(atomic_load_explicit(&seen, memory_order_relaxed));
}
int main(void) { start(); return 0; }
"""
    assert races(text) == set()


def test_what_belongs_to_a_thread_is_named_with_it() -> None:
    text = """\
void *one(void *x) { *(int *)x = 1; return 0; }
int main(void) {
    int local = 0;
    pthread_t a;
    pthread_create(&a, 0, one, &local);
    local = 2;
    pthread_join(a, 0);
    return local < 0;
}
"""
    assert races(text) == {"main:local: 1 writes, 6 writes"}


# ------------------------------------------------------------------------------------------- what orders them

PASSED = """\
int data;
atomic_int flag;
void *one(void *unused) {{ data = 1; {write}; return 0; }}
void *two(void *unused) {{ __VERIFIER_assume({read}); int seen = data; return 0; }}
"""


@pytest.mark.parametrize(
    ("write", "read", "ordered"),
    [
        ("flag = 1", "flag", True),
        ("flag++", "flag", True),
        ("atomic_store_explicit(&flag, 1, memory_order_release)",
         "atomic_load_explicit(&flag, memory_order_acquire)", True),
        ("atomic_store_explicit(&flag, 1, memory_order_relaxed)",
         "atomic_load_explicit(&flag, memory_order_acquire)", False),
        ("atomic_store_explicit(&flag, 1, memory_order_release)",
         "atomic_load_explicit(&flag, memory_order_relaxed)", False),
        ("atomic_store_explicit(&flag, 1, memory_order_relaxed)",
         "atomic_load_explicit(&flag, memory_order_relaxed)", False),
        # An update carries on what a release has begun.
        ("flag = 1; atomic_fetch_add_explicit(&flag, 1, memory_order_relaxed)", "flag == 2", True),
        ("atomic_thread_fence(memory_order_release); atomic_store_explicit(&flag, 1, memory_order_relaxed)",
         "atomic_load_explicit(&flag, memory_order_relaxed)); (atomic_thread_fence(memory_order_acquire)", True),
    ],
)  # fmt: skip
def test_passing_a_message(write: str, read: str, ordered: bool) -> None:
    found = races(PASSED.format(write=write, read=read) + MAIN)
    assert found == (set() if ordered else {"data: 3 writes, 4 reads"})


STORE = "atomic_store_explicit(&flag, 1, memory_order_{})"
LOAD = "atomic_load_explicit(&flag, memory_order_{})"
FENCE = "atomic_thread_fence(memory_order_{})"


def stored(order: str, fence: str | None = None) -> str:
    return (FENCE.format(fence) + "; " if fence else "") + STORE.format(order)


def loaded(order: str, fence: str | None = None) -> str:
    return LOAD.format(order) + ("); (" + FENCE.format(fence) if fence else "")


@pytest.mark.parametrize(
    ("write", "read", "ordered"),
    [
        (stored("relaxed", "release"), loaded("relaxed", "acquire"), True),
        (stored("relaxed", "seq_cst"), loaded("relaxed", "seq_cst"), True),
        (stored("relaxed", "acq_rel"), loaded("acquire"), True),
        (stored("release"), loaded("relaxed", "acquire"), True),
        # Half of it is nothing.
        (stored("relaxed", "release"), loaded("relaxed"), False),
        (stored("relaxed"), loaded("relaxed", "acquire"), False),
        (stored("relaxed", "acquire"), loaded("acquire"), False),
        (stored("release"), loaded("relaxed", "release"), False),
        (STORE.format("relaxed") + "; " + FENCE.format("seq_cst"), loaded("seq_cst"), False),
        # A fence for signal handlers is none for threads.
        ("atomic_signal_fence(memory_order_release); " + STORE.format("relaxed"), loaded("acquire"), False),
        # Only the update goes on with what the release began; another store does not, in C++20.
        (STORE.format("release") + "; atomic_fetch_add_explicit(&flag, 0, memory_order_relaxed)", loaded("acquire"),
         True),
        (STORE.format("release") + "; atomic_store_explicit(&flag, 2, memory_order_relaxed)",
         loaded("acquire") + " == 2", False),
    ],
)  # fmt: skip
def test_passing_a_message_by_fences(write: str, read: str, ordered: bool) -> None:
    found = races(PASSED.format(write=write, read=read) + MAIN)
    assert found == (set() if ordered else {"data: 3 writes, 4 reads"})


@pytest.mark.parametrize(
    ("order", "fence", "ordered"),
    [("release", "acquire", True), ("relaxed", "acquire", False), ("release", "release", False)],
)
def test_an_update_that_releases_is_acquired_by_a_fence_after_another(order: str, fence: str, ordered: bool) -> None:
    text = f"""\
int d;
atomic_int q;
void *one(void *unused) {{ d = 1; atomic_exchange_explicit(&q, 1, memory_order_{order}); return 0; }}
void *two(void *unused) {{
    int r = atomic_exchange_explicit(&q, 2, memory_order_{order});
    atomic_thread_fence(memory_order_{fence});
    if (r == 1) d = 2;
    return 0;
}}
"""
    assert races(text + MAIN) == (set() if ordered else {"d: 3 writes, 7 writes"})


@pytest.mark.parametrize(
    ("success", "failure", "ordered"),
    [("acq_rel", "acquire", True), ("acq_rel", "relaxed", False), ("relaxed", "acquire", True)],
)
def test_a_compare_exchange_that_fails_has_an_order_of_its_own(success: str, failure: str, ordered: bool) -> None:
    swap = f"atomic_compare_exchange_strong_explicit(&flag, &seen, 7, memory_order_{success}, memory_order_{failure})"
    text = f"""\
int data;
atomic_int flag;
void *one(void *unused) {{ data = 1; atomic_store_explicit(&flag, 1, memory_order_release); return 0; }}
void *two(void *unused) {{ int seen = 5; if (!{swap} && seen == 1) data = 2; return 0; }}
"""
    assert races(text + MAIN) == (set() if ordered else {"data: 3 writes, 4 writes"})


def test_what_a_thread_is_created_after_goes_with_its_release_fence() -> None:
    text = """\
int data;
atomic_int flag;
void *inner(void *unused) {
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return 0;
}
void *one(void *unused) {
    pthread_t a;
    data = 1;
    pthread_create(&a, 0, inner, 0);
    atomic_thread_fence(memory_order_acquire);
    return 0;
}
void *two(void *unused) {
    __VERIFIER_assume(atomic_load_explicit(&flag, memory_order_acquire));
    data = 2;
    return 0;
}
"""
    assert races(text + MAIN) == set()
    late = text.replace("    atomic_thread_fence(memory_order_release);\n", "")
    assert races(late + MAIN) == {"data: 16 writes, 9 writes"}


@pytest.mark.parametrize(("before", "ordered"), [(True, True), (False, False)])
def test_a_thread_knows_only_what_its_creator_acquired_before(before: bool, ordered: bool) -> None:
    create, fence = "pthread_create(&a, 0, inner, 0);", "atomic_thread_fence(memory_order_acquire);"
    text = f"""\
int data;
atomic_int flag;
void *inner(void *unused) {{ data = 2; return 0; }}
void *one(void *unused) {{ data = 1; atomic_store_explicit(&flag, 1, memory_order_release); return 0; }}
void *two(void *unused) {{
    pthread_t a;
    if (atomic_load_explicit(&flag, memory_order_relaxed)) {{ {fence + create if before else create + fence} }}
    return 0;
}}
"""
    assert races(text + MAIN) == (set() if ordered else {"data: 3 writes, 4 writes"})


def test_a_fence_in_a_section_is_done_with_it() -> None:
    text = """\
int data, other;
atomic_int flag;
void *one(void *unused) { data = 1; atomic_store_explicit(&flag, 1, memory_order_release); return 0; }
void *two(void *unused) {
    int seen = atomic_load_explicit(&flag, memory_order_relaxed);
    __VERIFIER_atomic_begin();
    atomic_thread_fence(memory_order_acquire);
    if (seen) data = 2;
    __VERIFIER_atomic_end();
    return 0;
}
"""
    assert races(text + MAIN) == set()
    assert races(text.replace("    atomic_thread_fence(memory_order_acquire);\n", "") + MAIN)


@pytest.mark.parametrize(
    ("shared", "hold", "attempt"),
    [
        ("pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;", "pthread_mutex_lock(&m)", "pthread_mutex_trylock(&m)"),
        ("pthread_rwlock_t m = PTHREAD_RWLOCK_INITIALIZER;", "pthread_rwlock_wrlock(&m)",
         "pthread_rwlock_tryrdlock(&m)"),
        ("pthread_rwlock_t m = PTHREAD_RWLOCK_INITIALIZER;", "pthread_rwlock_wrlock(&m)",
         "pthread_rwlock_trywrlock(&m)"),
    ],
)  # fmt: skip
def test_a_lock_that_could_not_be_taken_orders_nothing(shared: str, hold: str, attempt: str) -> None:
    """Who finds it held knows that the other thread holds it, but has not synchronised with it."""
    give_back = hold.replace("wrlock", "unlock").replace("_lock", "_unlock")
    one, two = f"x = 1; {hold}; {give_back}", f"if ({attempt}) x = 2; else {give_back}"
    assert races(threads(f"int x; {shared}", one, two))
    # The lock itself, when it is given back and taken, does order.
    one, two = f"{hold}; x = 1; {give_back}", f"if (!{attempt}) {{ int seen = x; {give_back}; }}"
    assert races(threads(f"int x; {shared}", one, two)) == set()


def test_a_section_of_the_program_synchronises_whatever_it_calls() -> None:
    shared = "int x, set; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;"
    one = "x = 1; __VERIFIER_atomic_begin(); set = 1; __VERIFIER_atomic_end(); pthread_mutex_trylock(&m)"
    two = (
        "__VERIFIER_atomic_begin(); int seen = set; pthread_mutex_trylock(&m); __VERIFIER_atomic_end(); if (seen) x = 2"
    )
    assert races(threads(shared, one, two)) == set()


@pytest.mark.parametrize(("order", "ordered"), [("acquire", True), ("relaxed", False)])
def test_large_objects_have_orders_too(order: str, ordered: bool) -> None:
    text = f"""\
int data;
struct pair {{ long a, b; }} _Atomic pair;
struct large {{ long a[3]; }} _Atomic large;
void *one(void *unused) {{
    data = 1;
    __c11_atomic_store(&pair, ((struct pair){{1, 1}}), memory_order_release);
    return 0;
}}
void *two(void *unused) {{
    struct pair seen = __c11_atomic_load(&pair, memory_order_{order});
    if (seen.a) data = 2;
    return 0;
}}
"""
    wanted = set() if ordered else {"data: 11 writes, 5 writes"}
    assert races(text + MAIN) == wanted
    assert (
        races(
            text.replace("(struct pair){1, 1}", "(struct large){{1}}")
            .replace("&pair", "&large")
            .replace("struct pair seen", "struct large seen")
            .replace("seen.a", "seen.a[0]")
            + MAIN
        )
        == wanted
    )


def test_the_accesses_themselves_order_nothing() -> None:
    """The second thread reads what the first one wrote, and that is the race."""
    result = check(threads("int x;", "x = 1", "__VERIFIER_assume(x)"))
    assert [race.object for race in result.races] == ["x"]


@pytest.mark.parametrize(
    ("shared", "one", "two"),
    [
        (
            "int x; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;",
            "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m)",
            "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m)",
        ),
        (
            "int x; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;",
            "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m)",
            "if (!pthread_mutex_trylock(&m)) { x++; pthread_mutex_unlock(&m); }",
        ),
        (
            "int x; pthread_spinlock_t s;",
            "pthread_spin_lock(&s); x++; pthread_spin_unlock(&s)",
            "pthread_spin_lock(&s); x++; pthread_spin_unlock(&s)",
        ),
        (
            "int x; pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;",
            "pthread_rwlock_wrlock(&l); x++; pthread_rwlock_unlock(&l)",
            "pthread_rwlock_rdlock(&l); int seen = x; pthread_rwlock_unlock(&l)",
        ),
        (
            "int x, ready; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER;",
            "x = 1; pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m)",
            "pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); x = 2",
        ),
        ("int x; sem_t s;", "x = 1; sem_post(&s)", "sem_wait(&s); x = 2"),
        (
            "int x; void *x_is(int n) { x = n; return 0; } pthread_barrier_t r;",
            "x = 1; pthread_barrier_wait(&r)",
            "pthread_barrier_wait(&r); x = 2",
        ),
        (
            "int x; pthread_once_t o = PTHREAD_ONCE_INIT; void set(void) { x = 1; }",
            "pthread_once(&o, set); int seen = x",
            "pthread_once(&o, set); int seen = x",
        ),
        (
            "int x;",
            "__VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end()",
            "__VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end()",
        ),
    ],
    ids=["mutex", "trylock", "spinlock", "rwlock", "condition", "semaphore", "barrier", "once", "section"],
)
def test_what_synchronises(shared: str, one: str, two: str) -> None:
    start = "pthread_t a, b;"
    for name, begin in (
        ("sem_t s", " sem_init(&s, 0, 0);"),
        ("pthread_barrier_t", " pthread_barrier_init(&r, 0, 2);"),
        ("pthread_spinlock_t", " pthread_spin_init(&s, 0);"),
    ):
        start += begin if name in shared else ""
    assert races(threads(shared, one, two).replace("pthread_t a, b;", start)) == set()


def test_creating_and_joining_order() -> None:
    text = """\
int x;
void *inner(void *unused) { x++; return 0; }
void *outer(void *unused) {
    pthread_t a;
    x++;
    pthread_create(&a, 0, inner, 0);
    pthread_join(a, 0);
    x++;
    return 0;
}
int main(void) {
    pthread_t a;
    x++;
    pthread_create(&a, 0, outer, 0);
    pthread_join(a, 0);
    return x < 4;
}
"""
    assert races(text) == set()
    assert races(text.replace("pthread_join(a, 0);\n    return x < 4", "return x < 0")) != set()


# ------------------------------------------------------------------------------------------- how they are told

LOST_UPDATE = threads("int x;", "x++", "x++")


def test_a_pair_of_lines_is_told_once() -> None:
    """`x++` reads and writes: three pairs of instructions, one race."""
    both = """\
int x;
void *one(void *unused) {
    x++;
    return 0;
}
void *two(void *unused) { return one(unused); }
"""
    (race,) = check(both + MAIN).races
    assert (race.object, race.first.line, race.second.line) == ("x", 3, 3)
    assert {race.first.thread, race.second.thread} == {"main.1", "main.2"}
    (race,) = check(LOST_UPDATE).races
    assert {race.first.line, race.second.line} == {2, 3}
    assert "write" in (race.first.kind, race.second.kind)
    assert not race.first.atomic and not race.second.atomic
    assert str(race).startswith("data race on `x`: program.c:")


def test_an_atomic_access_is_told_as_such() -> None:
    (race,) = check(threads("int x;", "__atomic_store_n(&x, 1, 5)", "x = 2")).races
    atomic = {access.line: access.atomic for access in (race.first, race.second)}
    assert atomic == {2: True, 3: False}
    assert "program.c:2 (main.1 writes atomically)" in str(race)


def test_races_leave_the_verdict_alone() -> None:
    warned, ignored = check(LOST_UPDATE), check(LOST_UPDATE, races="ignore")
    assert (warned.verdict, ignored.verdict, ignored.races) == (Verdict.OK, Verdict.OK, ())
    assert warned.executions.complete == ignored.executions.complete
    assert [race["object"] for race in warned.to_json()["races"]] == ["x"]


def test_a_race_can_be_a_bug() -> None:
    result = check(LOST_UPDATE, races="error")
    assert result.verdict is Verdict.BUG and result.bug is not None and result.trace is not None
    (race,) = result.races
    assert (result.bug.kind, result.bug.message) == ("race", str(race))
    assert (result.bug.file, result.bug.line, result.bug.thread) == ("program.c", race.second.line, race.second.thread)
    assert result.schedule == race.schedule


def test_both_steps_are_marked_and_the_trace_ends_there() -> None:
    (race,) = check(LOST_UPDATE).races
    trace = replay(race).trace
    assert trace is not None
    first, second = marked = [step for step in trace.steps if step.failed]
    assert [(step.thread, step.line) for step in marked] == [
        (access.thread, access.line) for access in (race.first, race.second)
    ]
    assert trace.steps[-1] is second
    texts = [[action.text for action in step.actions] for step in marked]
    assert f"data race with {second.thread}" in texts[0]
    assert texts[1][-1] == f"data race with {first.thread}"
    assert f"{race.second.kind}s x" in texts[1][-2]
    steps = race.schedule.steps
    assert race.schedule.race == (race.first.step, race.second.step) and race.second.step == len(steps)
    assert (steps[race.first.step - 1].thread, steps[-1].thread) == (race.first.thread, race.second.thread)


def test_a_race_can_be_replayed() -> None:
    (race,) = check(LOST_UPDATE).races
    assert race.to_json()["schedule"] is None
    schedule = Schedule.from_json(json.loads(json.dumps(race.to_json(schedule=True))))
    assert schedule == race.schedule
    again = replay(race)
    assert again.verdict is Verdict.BUG and again.bug is not None
    assert again.bug.message == str(race)


def test_a_schedule_of_a_race_that_is_none_is_refused() -> None:
    (race,) = check(LOST_UPDATE).races
    assert race.schedule.race is not None
    wrong = Schedule(race.schedule.threads, race.schedule.steps, (1, race.schedule.race[1]))
    with pytest.raises(mazurka.InputError, match=r"does not fit the program: its steps 1 and \d+ do not race"):
        mazurka.replay("program.c", wrong, compiler_arguments=["-include", "prelude.h"])


def test_a_failing_access_can_be_part_of_a_race() -> None:
    text = threads("int *x;", "free(x)", "*x = 1").replace("pthread_t a, b;", "pthread_t a, b; x = malloc(4); *x = 1;")
    result = check(text)
    assert result.bug is not None and result.bug.kind == "memory"
    (race,) = result.races
    assert {(access.line, access.kind) for access in (race.first, race.second)} == {(2, "free"), (3, "write")}


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "exhaustive", "random"])
@pytest.mark.parametrize(
    ("shared", "one", "two", "found"),
    [
        ("int x;", "x = 1; abort()", "x = 2", "x: 2 writes, 3 writes"),
        ("int x;", "x = 1; abort()", "x = 2; abort()", "x: 2 writes, 3 writes"),
        ("int x;", "if (x == 0) abort()", "x = 2", "x: 2 reads, 3 writes"),
        ("int x;", "for (int i = 0; i < 2; i++) x = i; abort()", "x = 2", "x: 2 writes, 3 writes"),
        ("int x;", "x = 1; abort()", "while (!x) ;", "x: 2 writes, 3 reads"),
        ("int x; atomic_int y;", "x = 1; abort()", "y++; y++; x = 2", "x: 2 writes, 3 writes"),
        (
            "int x;",
            "__VERIFIER_atomic_begin(); x = 1; abort(); __VERIFIER_atomic_end()",
            "x = 2",
            "x: 2 writes, 3 writes",
        ),
    ],
)
def test_a_racing_access_and_a_failure_can_be_one_step(
    algorithm: str, shared: str, one: str, two: str, found: str
) -> None:
    """The search goes on after the failure, and meets the other access then."""
    result = check(threads(shared, one, two), keep_going=True, algorithm=algorithm, max_executions=200)
    assert result.bug is not None and result.bug.kind == "abort"
    assert [told(race) for race in result.races] == [found]
    again = replay(result.races[0])
    assert again.bug is not None and again.bug.message == str(result.races[0])


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "exhaustive", "random"])
def test_all_algorithms_find_races_and_the_same_ones_each_time(algorithm: str) -> None:
    one, other = (check(LOST_UPDATE, algorithm=algorithm, max_executions=100) for _ in range(2))
    assert [race.object for race in one.races] == ["x"]
    assert (one.races, one.executions.complete) == (other.races, other.executions.complete)


def test_places_without_lines_are_functions() -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("worker") as f:
        f.store(x, 1)
    with p.function("main") as f:
        f.spawn("worker")
        f.store(x, 2)
    (race,) = mazurka.check(p.build()).races
    assert {str(race.first), str(race.second)} == {"main (main writes)", "worker (main.1 writes)"}


def test_an_early_access_is_not_lost_in_a_long_trace() -> None:
    """Both accesses are shown, however far apart they are."""
    count = "for (int i = 0; i < 700; i++) atomic_fetch_add_explicit(&y, 1, memory_order_relaxed);"
    early = f"{count} x = 1; {count} z = 1"
    late = f"while (!atomic_load_explicit(&z, memory_order_relaxed)) ; {count} x = 2"
    text = threads("int x; atomic_int y, z;", early, late)
    (race,) = check(text, memory="sc", algorithm="random", max_executions=1).races
    trace = replay(race).trace
    assert trace is not None
    assert [(step.thread, step.line) for step in trace.steps if step.failed] == [("main.1", 2), ("main.2", 3)]
    first, second = (step for step in trace.steps if step.omitted)
    assert (first.failed, first.omitted) == (True, 699), "the race does not depend on how far they have counted"
    assert trace.omitted == first.omitted + second.omitted > 1000
