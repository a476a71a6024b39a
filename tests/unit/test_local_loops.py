"""Loops in which a thread computes on its own: which of them are known to end, and that they are no obstacle to a
schedule. What is claimed is compared with what rounds really do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from mazurka.constrained import load_model
from mazurka.constrained.checker import check, check_proof
from mazurka.constrained.follow import follow
from mazurka.constrained.impact.iterative import IterativeImpact
from mazurka.constrained.model import LocalLoop, Location, Model
from mazurka.constrained.model.terms import Term, constant, evaluate, evaluate_array
from mazurka.constrained.plan import program_schedule
from mazurka.constrained.proof import Counterexample, Proof
from mazurka.executions.replaying import replay_schedule

HEADER = """
#include <assert.h>
#include <pthread.h>
#include <string.h>
int __VERIFIER_nondet_int(void);
unsigned __VERIFIER_nondet_uint(void);
unsigned char __VERIFIER_nondet_uchar(void);
int shared, table[50];
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
"""
MAIN = """
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, run, 0);
    pthread_create(&threads[1], 0, run, 0);
    pthread_join(threads[0], 0);
    return 0;
}
"""


def model_of(tmp_path: Path, before: str, inside: str, *, functions: str = "") -> Model:
    """Two threads that do something on their own, then something with the mutex, for ever."""
    body = f"{before} pthread_mutex_lock(&m); {inside} pthread_mutex_unlock(&m);"
    path = tmp_path / "program.c"
    path.write_text(f"{HEADER}\n{functions}\nvoid *run(void *unused) {{ for (;;) {{ {body} }} }}\n{MAIN}")
    return load_model([path])


def loops_of(model: Model) -> list[LocalLoop]:
    """Those of the second thread."""
    found = (location.loop for location in model.threads[1].locations if location.loop is not None)
    return list(dict.fromkeys(found))


def first_proof(model: Model) -> Proof | None:
    return next((result for result in islice(IterativeImpact(model).iterate(), 20) if isinstance(result, Proof)), None)


USE = "shared = s; assert(shared == s);"

ENDING = {
    "counts to an input": ("int n = __VERIFIER_nondet_int(), s = 0; for (int i = 0; i < n; i++) s += i * n;", USE),
    "digits": ("unsigned n = __VERIFIER_nondet_uint(), s = 0; while (n) { s += n % 10; n /= 10; }", USE),
    "digits of a signed number": ("int n = __VERIFIER_nondet_int(), s = 0; while (n) { s += n % 10; n /= 10; }", USE),
    "bits": ("unsigned n = __VERIFIER_nondet_uint(), s = 0; while (n) { s++; n &= n - 1; }", USE),
    "a mask": ("int n = __VERIFIER_nondet_int(), s = 0; for (unsigned b = 1; b; b <<= 1) if (n & b) s++;", USE),
    "a remainder": (
        "unsigned n = __VERIFIER_nondet_uint(), s = 42; while (n) { unsigned r = s % n; s = n; n = r; }",
        USE,
    ),
    "many rounds": ("unsigned s = __VERIFIER_nondet_uint(); for (int i = 0; i < 100000; i++) s = s * 31 + i;", USE),
    "nested": (
        "int n = __VERIFIER_nondet_int(), s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) s += i ^ j;",
        USE,
    ),
    "two dimensions": (
        "unsigned char x = __VERIFIER_nondet_uchar(), y = __VERIFIER_nondet_uchar(), s = 0; "
        "while (x > 0 || y > 0) { s++; if (y > 0) y--; else { x--; y = s; } }",
        USE,
    ),
    "a break": (
        "int n = __VERIFIER_nondet_int(), s = 0; for (int i = 0; i < n; i++) { s += i * n; if (s == 7) break; }",
        USE,
    ),
    "known sum": ("int s = 0; for (int i = 0; i < 1000; i++) s += 2;", "shared = s; assert(s == 2000);"),
    "known sum of an input": (
        "int n = __VERIFIER_nondet_uchar(), s = 7, i; for (i = 0; i < n; i++) s += 3;",
        "assert(i == n); assert(s == 3 * n + 7);",
    ),
    "an index": (
        "int n = __VERIFIER_nondet_int(), i; for (i = 0; i < n && i < 49; i++) if (i * n == 999) break;",
        "table[i] = 1;",
    ),
    "while the mutex is held": (
        "int n = __VERIFIER_nondet_int();",
        f"int s = 0; for (int i = 0; i < n; i++) s ^= i; {USE}",
    ),
    "a branch on what it computes": (
        "unsigned s = 1; for (int i = 0; i < 1000; i++) s = s * 31 + i;",
        "if (s > 10) { if (shared < 5) shared++; } else if (shared > 0) shared--; assert(shared >= 0 && shared <= 5);",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDING)
def test_a_loop_that_ends_is_no_obstacle(tmp_path: Path, name: str) -> None:
    model = model_of(tmp_path, *ENDING[name])
    loops = loops_of(model)
    assert loops and all(loop.ranks is not None for loop in loops)
    assert all(location.ends for thread in model.threads for location in thread.locations)
    proof = first_proof(model)
    assert proof is not None
    schedule = program_schedule(proof)
    assert check(model, schedule) == []


def test_rounds_cost_nothing(tmp_path: Path) -> None:
    """How often a loop goes round does not matter to how large a search is."""
    nodes = []
    for rounds in (300, 100_000):
        model = model_of(tmp_path, f"unsigned s = 1; for (int i = 0; i < {rounds}; i++) s = s * 31 + i;", USE)
        search = IterativeImpact(model)
        assert any(isinstance(result, Proof) for result in islice(search.iterate(), 1))
        nodes.append(search.progress().nodes)
    assert nodes[0] == nodes[1]


def test_loops_in_functions_and_over_local_memory(tmp_path: Path) -> None:
    functions = "static int digits(unsigned x) { int k = 0; do { k++; x /= 10; } while (x); return k; }"
    before = """
        unsigned char n = __VERIFIER_nondet_uchar(); int words[20], s = 0; char text[40];
        memset(text, 0, sizeof text); text[0] = 'x';
        for (int i = 0; i < 20; i++) words[i] = n + i;
        for (int *p = words; p != words + 20; p++) s += *p;
        s = digits(s) + (int)strlen(text);
    """
    model = model_of(tmp_path, before, USE, functions=functions)
    proof = first_proof(model)
    assert proof is not None
    schedule = program_schedule(proof)
    assert check(model, schedule) == []
    for seed in range(3):
        follow(schedule, seed=seed, steps=60)


@pytest.mark.parametrize(
    "loop",
    [
        "for (unsigned char i = 0; i <= 255; i++) s++;",
        "for (unsigned i = __VERIFIER_nondet_uint(); i != 7; i += 2) s++;",
        "for (signed char i = 0; i <= 127; i++) s++;",
        "for (unsigned i = __VERIFIER_nondet_uint(); i >= 0; i--) s++;",
        "for (int i = __VERIFIER_nondet_int(); i < 2147483647; i += 2) s++;",
        "for (unsigned i = __VERIFIER_nondet_uint(); i < 100; i *= 2) s++;",
        "int n = __VERIFIER_nondet_int(); for (int i = 0; i < 10; i += n) s++;",
    ],
)
def test_a_loop_that_may_not_end_is_not_said_to(tmp_path: Path, loop: str) -> None:
    model = model_of(tmp_path, f"unsigned s = 0; {loop}", USE)
    assert any(loop.ranks is None for loop in loops_of(model))
    assert any(location.is_silent and not location.ends for location in model.threads[1].locations)
    assert first_proof(model) is None


def test_the_checker_proves_ranks_again(tmp_path: Path) -> None:
    """What the model says of a loop is no more than a suggestion."""
    model = model_of(tmp_path, *ENDING["counts to an input"])
    proof = first_proof(model)
    assert proof is not None and check_proof(model, proof) == []
    (loop,) = loops_of(model)
    ranks = loop.ranks
    assert ranks is not None
    counter = next(variable.term for variable in loop.changed if variable.name.endswith(".i"))
    for wrong in ((), (counter,), (constant(0, 8),)):
        loop.ranks = {location: wrong for location in ranks}
        assert any("passed over for ever" in problem for problem in check_proof(model, proof))
    loop.ranks = ranks
    # A variable that somebody else assigns tells nothing, whatever its own thread does to it.
    thief = next(each for each in model.transitions if each.thread == 2 and each.source.transitions == [each])
    variable = next(each for each in loop.changed if each.name.endswith(".i"))
    index = model.transitions.index(thief)
    model.transitions[index] = replace(thief, assigns={**thief.assigns, variable: constant(0, 32)})
    assert any("passed over for ever" in problem for problem in check_proof(model, proof))


def test_failures_behind_a_loop_are_real(tmp_path: Path) -> None:
    """The rounds that a search leaves out are there when a failure is replayed."""
    before = "int s = 0; for (int i = 0; i < 1000; i++) s += i % 7;"
    model = model_of(tmp_path, before, "shared++; assert(shared < 2);")
    example = next(result for result in IterativeImpact(model).iterate() if isinstance(result, Counterexample))
    assert model.program is not None and model.lowered is not None
    bug = replay_schedule(model.program, model.lowered, example.schedule, any_status=True).end.bug
    assert bug is not None and "shared < 2" in bug.message
    assert sum(transition.silent for transition in example.path) > 800


def test_what_a_loop_computes_matters(tmp_path: Path) -> None:
    """Where a summary says too little, the loop is looked at round by round: no failure is made up."""
    before = "unsigned char s = 1; for (int i = 0; i < 200; i++) s = s * 5 + 1;"
    value = 1
    for _ in range(200):
        value = (value * 5 + 1) % 256
    model = model_of(tmp_path, before, f"assert(s == {value});")
    results = list(islice(IterativeImpact(model).iterate(), 1))
    assert results and isinstance(results[0], Proof)
    assert check(model, program_schedule(results[0])) == []


# ---------------------------------------------------------------------------------------------- random loops

TYPES = ("unsigned char", "signed char", "unsigned char", "short")


def random_loop(random: Random, depth: int = 0) -> str:
    """A loop over small numbers, so that it is soon found out whether it ends."""
    name = f"i{depth}"
    kind = random.choice(TYPES)
    first = random.choice(("0", "1", "n", "200", "(n & 7)", "-5"))
    bound = random.choice(("n", "k", "0", "10", "255", "127", "(n & 15)", *([f"i{depth - 1}"] if depth else [])))
    compare = random.choice(("<", "<=", "!=", ">", ">="))
    step = random.choice(("++", "--", "+= 2", "-= 3", "/= 2", ">>= 1", "*= 2", "<<= 1", "&= k", "+= k", "/= 10"))
    inside = [f"s += {name};"]
    if random.random() < 0.3:
        inside.append(f"if (s == {random.randrange(256)}) break;")
    if random.random() < 0.2:
        inside.append(f"if (s & 1) {name} {random.choice(('++', '--'))};")
    if depth < 1 and random.random() < 0.3:
        inside.append(random_loop(random, depth + 1))
    return f"for ({kind} {name} = {first}; {name} {compare} {bound}; {name} {step}) {{ {' '.join(inside)} }}"


def random_model(tmp_path: Path, random: Random) -> Model:
    loops = " ".join(random_loop(random) for _ in range(random.randint(1, 2)))
    inputs = "unsigned char n = __VERIFIER_nondet_uchar(), k = __VERIFIER_nondet_uchar(), s = 0;"
    return model_of(tmp_path, f"{inputs} {loops}", USE)


def goes_round_for_ever(loop: LocalLoop, start: Location, values: dict[Term, int | Sequence[int]]) -> bool:
    """Whether a thread comes by the same state of a loop twice."""
    seen: set[object] = set()
    location = start
    names = sorted(values, key=lambda each: each.name)
    while True:
        state = (location, *(values[name] for name in names))
        if state in seen:
            return True
        seen.add(state)
        step = next((each for each in location.transitions if evaluate(each.condition, values)), None)
        if step is None or step not in loop.transitions or len(seen) > 3000:
            return False
        values = values | {
            variable.term: evaluate_array(value, values) if variable.is_array else evaluate(value, values)
            for variable, value in step.assigns.items()
        }
        location = step.target


def check_random_program(tmp_path: Path, seed: int) -> None:
    """That what is claimed of loops is true, and that there is a schedule if all of them end."""
    random = Random(seed)
    model = random_model(tmp_path, random)
    endless = False
    for loop in loops_of(model):
        starts = list(dict.fromkeys(transition.source for transition in loop.transitions))
        for _ in range(60):
            values: dict[Term, int | Sequence[int]] = {
                each.term: random.choice((0, 1, 2, 7, 127, 128, 255, -1, random.getrandbits(64)))
                % (1 << each.term.width)
                for each in model.variables.values()
                if not each.is_array
            }
            if goes_round_for_ever(loop, random.choice(starts), values):
                assert loop.ranks is None
                endless = True
                break
    certain = all(location.ends for thread in model.threads for location in thread.locations)
    assert not (certain and endless)
    if certain:
        proof = first_proof(model)
        assert proof is not None
        schedule = program_schedule(proof)
        assert check(model, schedule) == []
        for each in range(2):
            follow(schedule, seed=each, steps=40)


@pytest.mark.parametrize("seed", range(6, 18))
def test_random_loops(tmp_path: Path, seed: int) -> None:
    check_random_program(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 400))
def test_more_random_loops(tmp_path: Path, seed: int) -> None:
    check_random_program(tmp_path, seed)
