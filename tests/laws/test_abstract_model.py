"""Models do what the virtual machine does, step by step, on programs that the abstract engine accepts; and what it does
not accept is refused where it happens."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from mazurka.constrained import load_model
from mazurka.constrained.extract.extraction import extract
from mazurka.constrained.model import Model
from mazurka.constrained.model.terms import Term, evaluate
from mazurka.machine.layout import address_of
from mazurka.machine.lowering import lower
from mazurka.program.program import Program
from mazurka.transforms import prepare
from tests import ROOT
from tests.oracle import generator, loop_generator, state_generator
from tests.oracle.model_walk import Walk, Walker
from tests.support.c_threads import random_c_program

PROGRAMS = ROOT / "tests" / "programs"
HEADER = """\
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
int __VERIFIER_nondet_int(void);
int __VERIFIER_nondet_range(int low, int high);
void __VERIFIER_assume(int condition);
"""


def model_of(tmp_path: Path, source: str) -> Model:
    file = tmp_path / "program.c"
    file.write_text(HEADER + source)
    return load_model([file])


def from_program(program: Program) -> Model:
    prepare(program, purity=False)
    return extract(program, lower(program))


def walk(model: Model, seeds: int = 10, steps: int = 150) -> list[Walk]:
    disjoint(model)
    return [Walker(model, seed).run(steps) for seed in range(seeds)]


def ends(model: Model, seeds: int = 10) -> set[str]:
    return {one.end for one in walk(model, seeds)}


def disjoint(model: Model) -> None:
    """In whatever state, reachable or not, a thread has at most one way to go on for given inputs."""
    source = Random(0)
    numbers = [0, 1, 2, 3, *(value for variable in model.variables.values() for value in _some(variable.initial))]
    for thread in model.threads:
        numbers += [address_of(thread.number + 1, 0)]
        for location in thread.locations:
            terms = [variable.term for variable in model.variables.values()]
            terms += [one.term for transition in location.transitions for one in transition.inputs]
            for _ in range(5):
                state = {term: _draw(term, numbers, source) for term in terms}
                possible = [one for one in location.transitions if evaluate(one.condition, state)]
                assert len(possible) <= 1, (location.point, possible)


def _some(initial: int | tuple[int, ...] | None) -> tuple[int, ...]:
    return (initial,) if isinstance(initial, int) else (initial or ())[:3]


def _draw(term: Term, numbers: list[int], source: Random) -> int | list[int]:
    if term.length is not None:
        return [source.choice(numbers) % (1 << term.width) for _ in range(term.length)]
    return source.choice(numbers) % (1 << term.width)


# ------------------------------------------------------------------------------------------ side by side


@pytest.mark.parametrize(
    "name",
    [
        "argument_race", "atomic_section", "bank", "barrier", "barrier_rounds", "bit_fields", "bounded_buffer",
        "c11_threads", "choices", "condition_signal_any", "condition_timed", "condition_while", "control_flow",
        "dekker", "detach", "dispatch", "division_by_zero", "double_free_race", "exit_ends_all", "initialisers",
        "integers", "join_twice", "lock_order", "lost_update", "mutex_destroyed", "mutex_freed_after_unlock",
        "mutex_kinds", "nested_threads", "null_write", "reference_count", "ring_buffer", "use_after_return",
    ],
)  # fmt: skip
def test_programs_of_the_corpus(name: str) -> None:
    found = walk(load_model([PROGRAMS / f"{name}.c"]), seeds=6)
    assert "steps" not in {one.end for one in found}


@pytest.mark.parametrize("seed", range(20))
def test_random_programs(seed: int) -> None:
    shapes = (
        generator.random_shape,
        generator.random_await_shape,
        generator.random_section_shape,
        generator.random_access_shape,
    )
    walk(from_program(generator.build(shapes[seed % 4](Random(seed)))), seeds=5)


@pytest.mark.parametrize("seed", range(15))
def test_random_programs_with_loops(seed: int) -> None:
    walk(from_program(loop_generator.build(loop_generator.random_loop_shape(Random(seed)))), seeds=5)


@pytest.mark.parametrize("seed", range(15))
def test_random_programs_that_run_for_ever(seed: int) -> None:
    walk(from_program(state_generator.build(state_generator.random_state_shape(Random(seed)))), seeds=5)


@pytest.mark.parametrize("seed", range(10))
def test_random_c_programs(tmp_path: Path, seed: int) -> None:
    file = tmp_path / "program.c"
    file.write_text(random_c_program(Random(seed)))
    walk(load_model([file]), seeds=5)


THREADS = """
int main(void) {
  pthread_t t[N];
  for (int i = 0; i < N; i++) pthread_create(&t[i], 0, run, ARGUMENT);
  for (int i = 0; i < N; i++) pthread_join(t[i], 0);
  CHECK
}
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            "#define N 3\n#define ARGUMENT &cells[i]\n#define CHECK assert(cells[2].count == 5);\n"
            "struct cell { char tag; int count; } cells[N];\n"
            "void *run(void *a) { struct cell *c = a; for (int i = 0; i < 5; i++) c->count++; c->tag = 1; return 0; }"
            + THREADS,
            {"end"},
            id="a structure for each thread",
        ),
        pytest.param(
            "#define N 2\n#define ARGUMENT 0\n#define CHECK\n"
            "struct { int head, tail; struct { short key; long value; } items[7]; } queue;\n"
            "void *run(void *a) {\n"
            "  int at = __VERIFIER_nondet_range(0, 6); queue.items[at].value = at; queue.items[at].key = 7;\n"
            "  int other = __VERIFIER_nondet_range(0, 6);\n"
            "  assert(queue.items[other].value == 0 || queue.items[other].value == other); queue.tail++; return 0; }"
            + THREADS,
            {"end"},
            id="an array of structures",
        ),
        pytest.param(
            "#define N 2\n#define ARGUMENT 0\n#define CHECK\nint rows[3][4];\n"
            "void *run(void *a) { int i = __VERIFIER_nondet_range(0, 2), j = __VERIFIER_nondet_range(0, 3);\n"
            "  rows[i][j]++; assert(rows[i][j] > 0); return 0; }" + THREADS,
            {"end"},
            id="an array of arrays",
        ),
        pytest.param(
            "#define N 2\n#define ARGUMENT 0\n#define CHECK\nint x, a[4];\n"
            "void *run(void *p) { int v = __VERIFIER_nondet_range(0, 4); a[v] = 1; x = a[0]; return 0; }" + THREADS,
            {"end", "failed"},
            id="an index out of bounds",
        ),
        pytest.param(
            "#define N 2\n#define ARGUMENT 0\n#define CHECK\nint x, y; int *p = &x;\n"
            "void *run(void *a) { *p = 3; p = __VERIFIER_nondet_range(0, 1) ? &y : &x; assert(*p != 7); *p = 4;\n"
            "  return 0; }" + THREADS,
            {"end"},
            id="a pointer with several targets",
        ),
        pytest.param(
            "#define N 2\n#define ARGUMENT 0\n#define CHECK\nint x;\n"
            "void *run(void *a) { int v = __VERIFIER_nondet_int(); __VERIFIER_assume(v > 3); x = v; assert(x > 3);\n"
            "  int sum = 0; for (int i = 0; i < (v & 7); i++) sum += i; x = sum + 4; return 0; }" + THREADS,
            {"end"},
            id="inputs and a local loop",
        ),
        pytest.param(
            "#define N 2\n#define ARGUMENT 0\n#define CHECK free(first);\n"
            "struct node { int value; struct node *next; } *first;\npthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
            "void *run(void *a) { struct node *n = malloc(sizeof *n); n->value = 1; pthread_mutex_lock(&m);\n"
            "  n->next = first; first = n; pthread_mutex_unlock(&m); return 0; }" + THREADS,
            {"end"},
            id="a list on the heap",
        ),
        pytest.param(
            "#define N 1\n#define ARGUMENT 0\n#define CHECK\nint x;\n"
            "int *leak(void) { int v = 1; int *p = &v; return p; }\n"
            "void *run(void *a) { int *p = leak(); x = *p; return 0; }" + THREADS,
            {"failed"},
            id="a local variable that is gone",
        ),
        pytest.param(
            "#define N 2\n#define ARGUMENT 0\n#define CHECK\n_Thread_local int own = 3; int x;\n"
            "void *run(void *a) { own++; x = own; own = x + 1; assert(own == 5); return 0; }" + THREADS,
            {"end"},
            id="thread-local variables",
        ),
        pytest.param(
            "#define N 2\n#define ARGUMENT 0\n#define CHECK\nint x;\n"
            "void *run(void *a) { int own[3] = {1, 2, 3};\n"
            "  for (int i = 0; i < 6; i++) { own[i % 3] += x; x = own[(i + 1) % 3]; } return 0; }" + THREADS,
            {"end"},
            id="an array of its own",
        ),
        pytest.param(
            "#include <stdio.h>\n#define N 2\n#define ARGUMENT 0\n#define CHECK printf(\"%d of %s\\n\", x, \"all\");\n"
            "int x;\n"
            "void *run(void *a) { x = __VERIFIER_nondet_int(); printf(\"%d\\n\", x); return 0; }" + THREADS,
            {"end"},
            id="printing what is not known",
        ),
    ],
)  # fmt: skip
def test_the_model_and_the_machine_agree(tmp_path: Path, source: str, expected: set[str]) -> None:
    assert ends(model_of(tmp_path, source), seeds=40) == expected


# ----------------------------------------------------------------------------------------------- details


def test_what_is_known_at_locations(tmp_path: Path) -> None:
    source = "int count, limit = 5; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
    source += "void *run(void *a) { for (;;) { pthread_mutex_lock(&m); if (count < limit) count++;\n"
    source += "  pthread_mutex_unlock(&m); } }\n#define N 2\n#define ARGUMENT 0\n#define CHECK\n" + THREADS
    model = model_of(tmp_path, source)
    shared = {variable.display: variable for variable in model.variables.values() if variable.thread is None}
    assert shared.keys() == {"m", "count"}  # `limit` never changes
    assert shared["m"].explicit
    assert [thread.display for thread in model.threads] == ["main", "run", "run"]
    assert model.threads[0].entry.transitions[0].starts == (1, 2)
    waiting = [location for location in model.threads[1].locations if location.may_block and location.rest is None]
    (lock,) = waiting
    assert lock.point is not None and lock.point.what == "locks m" and lock.point.operation == "pthread_mutex_lock"
    assert lock.waits == "await" and lock.holder is shared["m"].term


def test_values_that_are_not_used_any_more_are_forgotten(tmp_path: Path) -> None:
    source = "int count, turn; int items[2]; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
    source += "void *run(void *a) { for (;;) { int done = 0, at; pthread_mutex_lock(&m); at = turn; turn = !turn;\n"
    source += "  if (count < 5) { count++; done = 1; } items[at]++; pthread_mutex_unlock(&m);\n"
    source += "  if (done) { int item = *(volatile int *)&items[at]; } } }\n"
    model = model_of(tmp_path, source + "#define N 2\n#define ARGUMENT 0\n#define CHECK\n" + THREADS)
    registers = [one for one in model.variables.values() if one.explicit and one.thread == 1]
    done, *_ = (one for one in registers if one.name.endswith("done"))
    walker = Walker(model, 1)
    states = set()
    for _ in range(300):
        walker.run(1)
        states.add((walker.locations[1], tuple(walker.values[one.term] for one in registers)))
    assert {values[registers.index(done)] for _, values in states} == {0, 1}
    assert len([place for place, _ in states if place.point and place.point.what == "locks m"]) == 1
    assert ends(model) == {"steps"}  # where an item is read that nobody uses matters, too


def test_printing_takes_no_transitions_of_its_own(tmp_path: Path) -> None:
    source = (
        '#include <stdio.h>\nint x; void *run(void *a) { x = __VERIFIER_nondet_int(); printf("%d", x); return 0; }\n'
    )
    model = model_of(tmp_path, source + "#define N 1\n#define ARGUMENT 0\n#define CHECK\n" + THREADS)
    locations = model.threads[1].locations
    assert not any(one.silent for location in locations for one in location.transitions)
    (reads,) = (one for one in locations if one.point is not None and one.point.what == "reads x")
    assert [one.prints for one in reads.transitions] == [True]


def test_a_program_knows_that_it_is_checked(tmp_path: Path) -> None:
    source = "int x;\n#ifdef __MAZURKA__\nvoid *run(void *a) { x = 1; return 0; }\n#endif\n"
    model = model_of(tmp_path, source + "#define N 1\n#define ARGUMENT 0\n#define CHECK assert(x == 1);\n" + THREADS)
    assert ends(model) == {"end"}


def test_points_name_lines_of_the_text(tmp_path: Path) -> None:
    from mazurka.frontends.c.compiler import bundled_compiler, load_text

    source = "int x;\nint read(void) { return x; }\nvoid *run(void *a) { x = 1; return 0; }\n"
    source += "int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); int v = read(); pthread_join(t, 0); }\n"
    model = model_of(tmp_path, source)
    file = tmp_path / "program.c"
    lines = load_text(file, bundled_compiler(), ()).split("\n")
    points = [location.point for thread in model.threads for location in thread.locations if location.point]
    texts = {point.what: [lines[number - 1] for _, number in (*point.calls, point.line or ("", 0))]
             for point in points if point.line is not None}  # fmt: skip
    call, load = texts["reads x"]
    assert "@read()" in call and "load i32, ptr @x" in load
    assert "store i32 1, ptr @x" in texts["writes x"][0]
    assert "@pthread_join" in texts["calls pthread_join"][0]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("int f(int n) { return n ? f(n - 1) : x; } void *run(void *a) { x = f(x + 1); return 0; }", "f calls itself"),
        ("double d; void *run(void *a) { d = d + 1; return 0; }", "floating-point"),
        ("void *run(void *a) { for (;;) x += malloc(4) != 0; }", "too many objects"),
    ],
)
def test_what_cannot_be_followed_is_said_where_it_happens(tmp_path: Path, source: str, message: str) -> None:
    model = model_of(tmp_path, f"int x;\n{source}\n#define N 1\n#define ARGUMENT 0\n#define CHECK\n{THREADS}")
    failures = [one.failure for one in model.transitions if one.failure is not None and one.failure.kind == "beyond"]
    assert any(message in failure.message for failure in failures)
    assert all(failure.location is not None and failure.location.line == 8 for failure in failures)


def test_a_model_does_not_depend_on_the_order_of_sets(tmp_path: Path) -> None:
    script = "import sys; from mazurka.constrained import load_model\n"
    script += "from mazurka.constrained.model.terms import render\n"
    script += "m = load_model(sys.argv[1:]); print([v.name for v in m.variables.values()])\n"
    script += "print([(t.source.number, t.target.number, render(t.condition)) for t in m.transitions])"
    command = [sys.executable, "-c", script, str(PROGRAMS / "bounded_buffer.c")]
    environments = [os.environ | {"PYTHONHASHSEED": seed} for seed in ("1", "2")]
    one, other = (subprocess.run(command, env=env, capture_output=True, check=True).stdout for env in environments)
    assert one == other
