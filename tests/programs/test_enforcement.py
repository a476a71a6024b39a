"""Native builds: they do what the schedule says, at every level of optimisation, and nothing else changes."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mazurka.constrained import load_model
from mazurka.constrained.enforce import build
from mazurka.constrained.enforce.code import Code
from mazurka.constrained.enforce.contexts import Contexts
from mazurka.constrained.enforce.ordering import Ordering, Plan, find_waits
from mazurka.constrained.enforce.points import FIRST_POINT, NOWHERE, Points
from mazurka.constrained.enforce.units import Unit, UnitEvent
from mazurka.constrained.follow import follow
from mazurka.constrained.impact.iterative import IterativeImpact
from mazurka.constrained.model import Location, Model, Point, SharedAccess, StateVariable, Transition, terms
from mazurka.constrained.plan import program_schedule
from mazurka.constrained.proof import Proof
from mazurka.errors import InputError
from tests.support.two_threads import main_of_two

HEADER = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int __VERIFIER_nondet_range(int low, int high);
void __VERIFIER_assume(int condition);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
"""

MAIN = main_of_two('printf("%d %d\\n", x, y); return 3;')

# What they print depends on the order of the events.
PROGRAMS = {
    "races": """
        static int x, y;
        static void *one(void *arg) { x = x + 1; y = x; x = x * 2; return arg; }
        static void *two(void *arg) { x = x + 5; y = y + x; return arg; }
        """,
    "mutex": """
        static int x, y;
        static void *one(void *arg) { pthread_mutex_lock(&m); x = x * 3 + 1; y++; pthread_mutex_unlock(&m);
            return arg; }
        static void *two(void *arg) { pthread_mutex_lock(&m); x ^= 0x55; y += x; pthread_mutex_unlock(&m); return arg; }
        """,
    "calls from several places": """
        static int x, y;
        static void add(int *to, int n) { *to = *to * 3 + n; }
        static void *one(void *arg) { int own = 1; add(&own, 2); add(&x, own); add(&y, x); return arg; }
        static void *two(void *arg) { add(&x, 7); add(&y, 1); return arg; }
        """,
    "atomic operations": """
        static atomic_int x; static int y;
        static void *one(void *arg) { atomic_fetch_add(&x, 3); int old = 3;
            y = atomic_compare_exchange_strong(&x, &old, 8); return arg; }
        static void *two(void *arg) { atomic_fetch_xor(&x, 6); return arg; }
        """,
    "atomic sections": """
        static int x, y;
        static void *one(void *arg) { __VERIFIER_atomic_begin(); __VERIFIER_assume(x == 2); x = 7; y = x;
            __VERIFIER_atomic_end(); return arg; }
        static void *two(void *arg) { x = 1; x = 2; __VERIFIER_atomic_begin(); __VERIFIER_assume(y == 7); y = y + x;
            __VERIFIER_atomic_end(); return arg; }
        """,
    "condition variable": """
        static pthread_cond_t c = PTHREAD_COND_INITIALIZER; static int x, y;
        static void *one(void *arg) { pthread_mutex_lock(&m); while (!x) pthread_cond_wait(&c, &m); y = x + 1;
            pthread_mutex_unlock(&m); return arg; }
        static void *two(void *arg) { pthread_mutex_lock(&m); x = 4; pthread_cond_signal(&c);
            pthread_mutex_unlock(&m); return arg; }
        """,
    "copies": """
        struct pair { int a, b; } static p, q; static int x, y;
        static void *one(void *arg) { p.a = 1; p.b = 2; q = p; return arg; }
        static void *two(void *arg) { pthread_mutex_lock(&m); x = q.a; y = q.b; pthread_mutex_unlock(&m); return arg; }
        """,
    "output": """
        static int x, y;
        static void *one(void *arg) { for (int i = 0; i < 5; i++) { pthread_mutex_lock(&m); printf("one");
            printf("%d ", i); pthread_mutex_unlock(&m); } return arg; }
        static void *two(void *arg) { for (int i = 0; i < 5; i++) { pthread_mutex_lock(&m); printf("two");
            printf("%d ", i); pthread_mutex_unlock(&m); } return arg; }
        """,
    "threads of C11": """
        #include <threads.h>
        static mtx_t lock; static int x, y;
        static int add(void *arg) { mtx_lock(&lock); x = x * 2 + (arg != NULL); mtx_unlock(&lock); return x; }
        static void *one(void *arg) { thrd_t t; int got; mtx_init(&lock, mtx_plain); thrd_create(&t, add, NULL);
            thrd_join(t, &got); y = got + 5; return arg; }
        static void *two(void *arg) { x = x + 3; return arg; }
        """,
    "errno": """
        #include <errno.h>
        static int x, y;
        static void *one(void *arg) { errno = ERANGE; pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);
            y = errno == ERANGE; return arg; }
        static void *two(void *arg) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return arg; }
        """,
    "memory that ends": """
        static int *p, x, y;
        static void *one(void *arg) { pthread_mutex_lock(&m); if (p != NULL) x = *p; pthread_mutex_unlock(&m);
            return arg; }
        static void *two(void *arg) { int *q = malloc(sizeof(int)); *q = 7; pthread_mutex_lock(&m); p = q;
            pthread_mutex_unlock(&m); pthread_mutex_lock(&m); y = *p; free(p); p = NULL; pthread_mutex_unlock(&m);
            return arg; }
        """,
    "operations in atomic sections": """
        static int x, y;
        static void take(void) { pthread_mutex_lock(&m); x = x * 2 + 1; pthread_mutex_unlock(&m); }
        static void *one(void *arg) { __VERIFIER_atomic_begin(); take(); y = x; __VERIFIER_atomic_end(); return arg; }
        static void *two(void *arg) { take(); y = y + x; return arg; }
        """,
    "lines that are not always events": """
        static int x = 3, y; static const int never = 9;
        static int get(const int *from) { return *from; }
        __attribute__((constructor)) static void before(void) { y = get(&x); x = 5; }
        static void *one(void *arg) { int own = 7; y = y + get(&x) + get(&own) + get(&never); return arg; }
        static void *two(void *arg) { y = y * 2 + get(&x); return arg; }
        """,
    "a pointer to what never changes, or to what does": """
        static int never = 7, x = 5, y, *p = &never;
        static void *one(void *arg) { int *to = p; y = *to; return arg; }
        static void *two(void *arg) { p = &x; x = 5; p = &never; return arg; }
        """,
    "a macro that does more natively": """
        static int x, y;
        #ifdef __MAZURKA__
        #define STEP(n) do { x = x * 3 + n; } while (0)
        #else
        static int own;
        #define STEP(n) do { own = own + 1; sched_yield(); x = x * 3 + n; } while (0)
        #endif
        static void *one(void *arg) { pthread_mutex_lock(&m); STEP(1); pthread_mutex_unlock(&m); return arg; }
        static void *two(void *arg) { pthread_mutex_lock(&m); STEP(2); pthread_mutex_unlock(&m); return arg; }
        """,
    "inputs": """
        static int x, y;
        static void *one(void *arg) { if (__VERIFIER_nondet_range(0, 1)) { x = 1; } else { y = 1; } x = x + 2;
            return arg; }
        static void *two(void *arg) { if (x > 2) { y = y + 4; } return arg; }
        """,
}


def first_proof(path: Path) -> Proof:
    for found in IterativeImpact(load_model([path])).iterate():
        if isinstance(found, Proof):
            return found
    raise AssertionError("no schedule")


def written(folder: Path, text: str, name: str = "program.c") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def run(program: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program], capture_output=True, text=True, timeout=60, env={**os.environ, **environment}, check=False
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_native_runs_do_what_the_virtual_machine_does_under_the_same_schedule(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, HEADER + PROGRAMS[name] + MAIN)
    schedule = program_schedule(first_proof(path))
    expected = {follow(schedule, seed=seed).output.decode() for seed in range(5)}
    for level in (0, 1, 2):
        program = tmp_path / f"level{level}"
        build([path], schedule, program, optimise=level)
        for environment in ({}, {"MAZURKA_DAWDLE": "1"}):
            for _ in range(5):
                done = run(program, **environment)
                assert (done.returncode, done.stderr) == (3, "")
                assert done.stdout in expected


def test_where_several_threads_may_go_first_any_of_them_does(tmp_path: Path) -> None:
    """Later results permit more: what is printed is always something that the virtual machine prints, too."""
    path = written(tmp_path, HEADER + PROGRAMS["mutex"] + MAIN)
    proofs = [
        found
        for found in itertools.islice(IterativeImpact(load_model([path])).iterate(), 4)
        if isinstance(found, Proof)
    ]
    schedule = program_schedule(proofs[-1])
    assert any(len({section.thread for section in schedule.sections_at(node)}) > 1 for node in schedule.nodes)
    permitted = {follow(schedule, seed=seed).output.decode() for seed in range(50)}
    assert len(permitted) > 1
    for level in (0, 2):
        build([path], schedule, tmp_path / "program", optimise=level)
        assert {run(tmp_path / "program", MAZURKA_DAWDLE="1").stdout for _ in range(20)} <= permitted


ENDLESS = """
static int items[4]; static int count, x, y;
static int rounds[2];
static void end(int which) {
#ifndef __MAZURKA__
    if (++rounds[which] == 20000) { printf("%d\\n", which); fflush(stdout); _Exit(5); }
#endif
}
static void *one(void *arg) { for (;;) { pthread_mutex_lock(&m); if (count < 4) { items[count] = 1; count++; }
    pthread_mutex_unlock(&m); } return arg; }
static void *two(void *arg) { for (;;) { pthread_mutex_lock(&m); if (count > 0) { count--;
    if (items[count] != 1) abort(); items[count] = 0; } pthread_mutex_unlock(&m); end(1); } return arg; }
"""


def test_endless_programs_go_on_for_ever(tmp_path: Path) -> None:
    """The first thread waits for the others in vain, and the others repeat their section."""
    path = written(tmp_path, HEADER + ENDLESS + MAIN)
    schedule = program_schedule(first_proof(path))
    for level in (1, 2):
        program = tmp_path / f"level{level}"
        build([path], schedule, program, optimise=level)
        done = run(program)
        assert (done.returncode, done.stdout, done.stderr) == (5, "1\n", "")


def test_without_a_schedule_the_program_is_as_it_was(tmp_path: Path) -> None:
    text = 'int main(int argc, char **argv) { printf("%d %s @main\\n", argc, argv[1]); return 42; }'
    path = written(tmp_path, HEADER + text)
    build([path], None, tmp_path / "program")
    done = subprocess.run([tmp_path / "program", "word"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (42, "2 word @main\n")


def test_arguments_output_and_exit_code_are_unchanged(tmp_path: Path) -> None:
    text = """
    static int x;
    static void *run(void *arg) { x = 1; return arg; }
    int main(int argc, char **argv) {
        pthread_t t;
        pthread_create(&t, NULL, run, NULL);
        pthread_join(t, NULL);
    #ifndef __MAZURKA__
        printf("%d %s\\n", argc, argv[1]);
    #endif
        exit(x + 6);
    }
    """
    path = written(tmp_path, HEADER + text)
    build([path], program_schedule(first_proof(path)), tmp_path / "program", optimise=2)
    done = subprocess.run([tmp_path / "program", "word"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (7, "2 word\n", "")


def test_a_program_that_leaves_its_schedule_stops_with_a_message(tmp_path: Path) -> None:
    text = """
    static int x, y;
    static void *one(void *arg) {
        x = 1;
    #ifndef __MAZURKA__
        if (getenv("PATH"))
            return arg;
    #endif
        y = 1;
        return arg;
    }
    static void *two(void *arg) { y = 2; x = 2; return arg; }
    """
    path = written(tmp_path, HEADER + text + MAIN)
    build([path], program_schedule(first_proof(path)), tmp_path / "program", optimise=0)
    done = run(tmp_path / "program")
    assert done.returncode == 70
    assert "mazurka: thread main.1 (one) leaves the schedule: at the end of its function" in done.stderr
    assert "but its next event is at " in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "void *run(void *arg) { for (;;) { pthread_mutex_lock(&m); y++; pthread_mutex_unlock(&m); } }"
        " int main(void) { pthread_t t; pthread_create(&t, 0, run, 0);"
        " for (int i = 0; i < 3; i++) { pthread_mutex_lock(&m); y++; pthread_mutex_unlock(&m); } exit(0); }",
        "void *run(void *arg) { for (;;) { int same = x; pthread_mutex_lock(&m); y--; pthread_mutex_unlock(&m); } }"
        " int main(void) { pthread_t t; pthread_create(&t, 0, run, 0);"
        " for (int i = 0; i < 3; i++) told = 1; exit(0); }",
        "void *run(void *arg) { told = 1; if (__VERIFIER_nondet_range(0, 1)) x = 1; else y = 1; return 0; }"
        " int main(void) { pthread_t t; pthread_create(&t, 0, run, 0);"
        " __VERIFIER_atomic_begin(); __VERIFIER_assume(told); __VERIFIER_atomic_end(); assert(!x && !y); exit(0); }",
    ],
    ids=["at an operation that is left out", "before such an operation", "before a choice"],
)
def test_a_program_may_end_wherever_its_threads_are(text: str, tmp_path: Path) -> None:
    path = written(tmp_path, "#include <assert.h>\n" + HEADER + "static int x, y; static atomic_int told;" + text)
    schedule = program_schedule(first_proof(path))
    for level in (0, 1, 2):
        assert build([path], schedule, tmp_path / "program", optimise=level) == level
        for dawdling in ({}, {"MAZURKA_DAWDLE": "1"}):
            done = run(tmp_path / "program", **dawdling)
            assert (done.returncode, done.stderr) == (0, "")


def test_who_looks_at_addresses_as_at_numbers_cannot_be_built(tmp_path: Path) -> None:
    text = """
    static unsigned long key;
    static void *one(void *arg) { key = ~(unsigned long)&key; return arg; }
    static void *two(void *arg) { if (key) assert(key == ~(unsigned long)&key); return arg; }
    static int x, y;
    """
    path = written(tmp_path, "#include <assert.h>\n" + HEADER + text + MAIN)
    with pytest.raises(InputError, match="computes with an address as with a number"):
        build([path], program_schedule(first_proof(path)), tmp_path / "program")


def test_what_is_to_happen_after_a_thread_cannot_be_built(tmp_path: Path) -> None:
    text = """
    static int x, y; static pthread_key_t key;
    static void destroy(void *value) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); }
    static void *one(void *arg) { pthread_key_create(&key, destroy); pthread_setspecific(key, &x); return arg; }
    static void *two(void *arg) { pthread_mutex_lock(&m); y++; pthread_mutex_unlock(&m); return arg; }
    """
    path = written(tmp_path, HEADER + text + MAIN)
    with pytest.raises(InputError, match="at the end of a thread"):
        build([path], program_schedule(first_proof(path)), tmp_path / "program")


def test_a_call_that_reads_what_never_changes_on_its_way_is_in_order_or_refused(tmp_path: Path) -> None:
    text = """
    static char text[8] = "abcdefg"; static int x, y;
    static void *one(void *arg) { pthread_mutex_lock(&m); text[2] = 'X'; y = 1; pthread_mutex_unlock(&m); return arg; }
    static void *two(void *arg) {
        pthread_mutex_lock(&m);
        if (y) assert(strcmp(text, "abXdefg") == 0);
        pthread_mutex_unlock(&m);
        return arg;
    }
    """
    path = written(tmp_path, "#include <assert.h>\n" + HEADER + text + MAIN)
    schedule = program_schedule(first_proof(path))
    for level in (0, 1, 2):
        try:
            build([path], schedule, tmp_path / "program", optimise=level)
        except InputError:
            continue
        assert run(tmp_path / "program", MAZURKA_DAWDLE="1").returncode == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "static int x, y; static void *one(void *arg) { int own = 1; for (int i = 0; i < 2; i++) {"
            " int *p = i ? &x : &own; y += *p; } return arg; } static void *two(void *arg) { x = 1; return arg; }",
            "a native build cannot tell which",
        ),
        (
            "static int x, y; static int (*lock[2])(pthread_mutex_t *) = {pthread_mutex_lock, pthread_mutex_trylock};"
            "static void *one(void *arg) { for (int i = 0; i < 2; i++) if (lock[i](&m) == 0) {"
            " x++; pthread_mutex_unlock(&m); } return arg; } static void *two(void *arg) { return one(arg); }",
            "through a pointer to several functions",
        ),
        (
            "static int x, y; static void *one(void *arg) {\n#ifdef __MAZURKA__\nx = 1;\n#endif\nreturn arg; }"
            " static void *two(void *arg) { x = 2; return arg; }",
            "but not in a native build",
        ),
        (
            "static int x, y;\n#ifdef __MAZURKA__\n#define STEP x = 1;\n#else\n#define STEP x = 1; x = 1;\n#endif\n"
            "static void *one(void *arg) { STEP return arg; } static void *two(void *arg) { x = 2; return arg; }",
            "but not in a native build",
        ),
    ],
)
def test_what_cannot_be_built_is_refused_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, HEADER + text + MAIN)
    schedule = program_schedule(first_proof(path))
    with pytest.raises(InputError, match=message) as refused:
        build([path], schedule, tmp_path / "program", optimise=1)
    assert str(refused.value).startswith(f"{path}:")


# ------------------------------------------------------------------------------------------------ ordering

THREADS = 3
SCALARS = [StateVariable(terms.variable(name, 32), 0, address=1) for name in "xy"]
ARRAY = StateVariable(terms.variable("a", 32, 4), (0, 0, 0, 0), address=1)


def access(thread: int, variable: StateVariable, index: int | None, writes: bool, line: int) -> UnitEvent:
    source = Location(thread, 0, terms.TRUE, point=Point("", None, "f", (), (), ("f.c", line)))
    transition = Transition(0, thread, source, Location(thread, 1, terms.TRUE), terms.TRUE)
    transition.accesses = (SharedAccess(variable, None, not writes, writes),)
    source.transitions.append(transition)
    return UnitEvent(thread, (transition,), transition.accesses, (index,), {})


cells = st.sampled_from([(SCALARS[0], None), (SCALARS[1], None), (ARRAY, 0), (ARRAY, 1)])
accesses = st.lists(st.tuples(st.integers(0, THREADS - 1), cells, st.booleans()), min_size=1, max_size=25)


@given(accesses, accesses, st.integers(0, 2), st.randoms(use_true_random=False))
def test_every_order_that_the_waits_allow_gives_each_load_the_value_of_the_schedule(
    first: list[tuple[int, tuple[StateVariable, int | None], bool]],
    second: list[tuple[int, tuple[StateVariable, int | None], bool]],
    level: int,
    chance: random.Random,
) -> None:
    events = [
        [access(thread, *cell, writes, line) for line, (thread, cell, writes) in enumerate(sequence, base)]
        for base, sequence in ((1, first), (100, second))
    ]
    kinds = {
        ("f.c", line): "store" if writes else "load"
        for base, sequence in ((1, first), (100, second))
        for line, (_, _, writes) in enumerate(sequence, base)
    }
    points = Points(Code(kinds=kinds, certain=set(kinds)), Contexts({}, frozenset()), {})
    units = [
        Unit(frozenset([number]), 0, FIRST_POINT, NOWHERE, False, tuple(sequence), frozenset([number + 1]))
        for number, sequence in enumerate(events)
    ]
    plans = [Ordering(Model(), units, points, level).plan(unit) for unit in units]
    done = [(number, position) for number, sequence in enumerate(events) for position in range(len(sequence))]
    plain = Plan([])
    assert executed(done, events, plans) == executed(done, events, [plain, plain])
    assert executed(shuffled(events, plans, chance), events, plans) == executed(done, events, [plain, plain])


def executed(
    order: list[tuple[int, int]], events: list[list[UnitEvent]], plans: list[Plan]
) -> tuple[dict[tuple[int, int], int], dict[object, int]]:
    """What each load gets, and what is in memory in the end. Each store writes something else."""
    memory: dict[object, int] = {}
    redirected: dict[object, int] = {}
    loaded: dict[tuple[int, int], int] = {}
    for unit, position in order:
        event = events[unit][position]
        (touched,) = event.accesses
        cell = plans[unit].cells.get(position)
        target, key = (memory, (touched.variable.name, event.indices)) if cell is None else (redirected, (unit, cell))
        if touched.writes:
            target[key] = 1000 * unit + position + 1
        else:
            loaded[unit, position] = target.get(key, 0)
    return loaded, memory


def shuffled(events: list[list[UnitEvent]], plans: list[Plan], chance: random.Random) -> list[tuple[int, int]]:
    """Any order of the events of two units that keeps the order of each thread and the waits."""
    touching = [
        [(event.thread, touches) for event, touches in zip(sequence, plan.touches, strict=True)]
        for sequence, plan in zip(events, plans, strict=True)
    ]
    waits = [find_waits([], touching[0], THREADS), find_waits(touching[0], touching[1], THREADS)]
    counts = [sum(event.thread == thread for event in events[0]) for thread in range(THREADS)]
    lanes: list[list[tuple[int, int]]] = [[] for _ in range(THREADS)]
    for number, sequence in enumerate(events):
        for position, event in enumerate(sequence):
            lanes[event.thread].append((number, position))
    clocks = [0] * THREADS
    order: list[tuple[int, int]] = []
    while len(order) < sum(map(len, events)):
        ready = [
            lane[clocks[thread]]
            for thread, lane in enumerate(lanes)
            if clocks[thread] < len(lane)
            and all(
                clocks[other] >= clock + (counts[other] if lane[clocks[thread]][0] else 0)
                for other, clock in waits[lane[clocks[thread]][0]][lane[clocks[thread]][1]]
            )
        ]
        unit, position = chance.choice(ready)  # there is always one
        clocks[events[unit][position].thread] += 1
        order.append((unit, position))
    return order
