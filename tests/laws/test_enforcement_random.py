"""Random programs, built to follow a schedule, do what the virtual machine does under the same schedule."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from mazurka.constrained import load_model
from mazurka.constrained.enforce import build
from mazurka.constrained.follow import Execution, follow
from mazurka.constrained.impact.iterative import IterativeImpact
from mazurka.constrained.plan import ProgramSchedule, program_schedule
from mazurka.constrained.proof import Proof
from tests.oracle.statements import place, scalar, simple

LEVELS = (0, 1, 2)

# A native run gets its inputs from the environment, is delayed here and there, and notes what its threads read. Threads
# that never end stop the program when each of them has noted enough.
PRELUDE = r"""
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
int __VERIFIER_nondet_int(void);
void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
#ifdef __MAZURKA__
#define DELAY
#define NOTE(thread, value)
static int input(void) { return __VERIFIER_nondet_int(); }
#else
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
static int input(void) {
    static char *at;
    if (!at) at = getenv("INPUTS");
    return (int)strtol(at, &at, 10);
}
static void delay(void) {
    static _Atomic unsigned threads;
    static _Thread_local unsigned state;
    if (!state) state = ++threads * 2654435761u + (unsigned)atoi(getenv("SEED"));
    state = state * 1103515245u + 12345u;
    const unsigned kind = state >> 16 & 15;
    if (kind == 0) usleep(state >> 20 & 127);
    else if (kind < 4) sched_yield();
    else for (volatile unsigned i = 0; i < (state >> 20 & 255); i++) {}
}
static void note(int thread, int value) {
    static unsigned hashes[THREADS], counts[THREADS];
    static atomic_int finished;
    if (!ENOUGH || counts[thread] == ENOUGH) return;
    hashes[thread] = hashes[thread] * 31u + (unsigned)value;
    if (++counts[thread] == ENOUGH && ++finished == THREADS) {
        for (int i = 0; i < THREADS; i++) printf("%08x ", hashes[i]);
        fflush(stdout);
        _exit(0);
    }
}
#define DELAY delay();
#define NOTE(thread, value) note(thread, value);
#endif
static void show(int v) { putchar('A' + (v & 15)); putchar('A' + (v >> 4 & 15)); }
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, turns = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
pthread_barrier_t barrier;
sem_t semaphores[4];
int x, y, z, turn, array[4];
atomic_int counter;
static int get(int *p) { return *p; }
static void put(int *p, int v) { *p = v; }
static void add(int *p, int v) { *p = *p + v; }
static void guarded(int *p, int v) { pthread_mutex_lock(&inner); *p = *p * 5 + v; pthread_mutex_unlock(&inner); }
"""


class Program:
    """A random program: threads that share variables, an array and a counter. One that ends prints their values."""

    def __init__(self, seed: int, *, ends: bool, inputs: bool) -> None:
        self._random = Random(seed)
        self._ends = ends
        self._threads = self._random.randint(2, 4 if ends else 3)
        self._turns = self._random.choice(("condition", "spinning", "assumption", "semaphore", "retry", None))
        self._barrier = self._random.random() < 0.2
        self._me = 0
        self._locked = False
        self._indices: list[str] = []
        bodies = [self._thread(number) for number in range(self._threads)]
        values = ["input()" if inputs and self._random.random() < 0.7 else str(number) for number in range(4)]
        self.text = "\n".join(
            [f"#define THREADS {self._threads}", f"#define ENOUGH {0 if ends else 300}", PRELUDE, *bodies]
            + [f"int main(void) {{\n    x = {values[0]}; y = {values[1]}; z = {values[2]}; array[1] = {values[3]};"]
            + [f"    pthread_barrier_init(&barrier, 0, {self._threads});"]
            + [f"    sem_init(&semaphores[{n}], 0, {int(n == 0)});" for n in range(self._threads)]
            + [f"    pthread_t h{n};" for n in range(self._threads)]
            + [f"    pthread_create(&h{n}, 0, t{n}, 0);" for n in range(self._threads)]
            + [f"    pthread_join(h{n}, 0);" for n in range(self._threads)]
            + [f"    show({v});" for v in ("x", "y", "z", "counter", *(f"array[{n}]" for n in range(4)))]
            + ["    return 0;\n}\n"]
        )

    def _thread(self, number: int) -> str:
        self._me = number
        parts = [self._block(1, self._random.randint(1, 3))]
        if self._turns:
            parts.insert(self._random.randrange(2), self._in_turn())
        if self._barrier:
            parts.append("v += pthread_barrier_wait(&barrier) != 0;")
            parts.append(self._block(1, 1))
        body = "\n    ".join([*parts, f"NOTE({number}, u + v)"])
        if not self._ends:
            body = f"for (;;) {{\n    {body}\n    }}"
        return f"static void *t{number}(void *a) {{\n    int u = 2, v = {number};\n    {body}\n    return 0;\n}}"

    def _in_turn(self) -> str:
        me, following = self._me, (self._me + 1) % self._threads
        body = f"{self._block(0, self._random.randint(1, 2))} turn = {following};"
        match self._turns:
            case "condition":
                return (
                    f"pthread_mutex_lock(&turns); while (turn != {me}) pthread_cond_wait(&changed, &turns); {body} "
                    "pthread_cond_broadcast(&changed); pthread_mutex_unlock(&turns);"
                )
            case "spinning":
                return f"while (turn != {me}) {{}} {body}"
            case "assumption":
                return f"__VERIFIER_atomic_begin(); __VERIFIER_assume(turn == {me}); {body} __VERIFIER_atomic_end();"
            case "semaphore":
                return f"sem_wait(&semaphores[{me}]); {body} sem_post(&semaphores[{following}]);"
        return (
            f"for (int done = 0; !done;) {{ pthread_mutex_lock(&turns); if (turn == {me}) {{ {body} done = 1; }} "
            "pthread_mutex_unlock(&turns); }"
        )

    def _block(self, depth: int, length: int) -> str:
        return " ".join(self._statement(depth) for _ in range(length))

    def _statement(self, depth: int) -> str:
        kind = self._random.random() if depth else 0
        if kind < 0.4:
            return self._simple()
        if kind < 0.6 and not self._locked:
            self._locked = True
            inner = self._block(depth - 1, 2)
            self._locked = False
            return f"pthread_mutex_lock(&lock); {inner} pthread_mutex_unlock(&lock);"
        if kind < 0.75:
            condition = self._random.choice(
                (f"{scalar(self._random)} & 1", f"{place(self._random, self._indices)} > v", "counter & 1")
            )
            return f"if ({condition}) {{ {self._block(depth - 1, 1)} }} else {{ {self._block(depth - 1, 1)} }}"
        if kind < 0.9:
            index = f"i{len(self._indices)}"
            self._indices.append(index)
            inner = self._block(depth - 1, 2)
            self._indices.pop()
            return f"for (int {index} = 0; {index} < 3; {index}++) {{ {inner} }}"
        return f"__VERIFIER_atomic_begin(); {self._simple()} {self._simple()} __VERIFIER_atomic_end();"

    def _simple(self) -> str:
        statement = simple(self._random, self._indices, lambda value: f"NOTE({self._me}, {value})")
        return self._random.choice(("", "DELAY ")) + statement


def find_schedule(source: Path, text: str, iterations: int = 1) -> ProgramSchedule:
    """That of the last of so many iterations."""
    source.write_text(text)
    proofs = (result for result in IterativeImpact(load_model([source])).iterate() if isinstance(result, Proof))
    proof = next(proofs)
    for _, later in zip(range(iterations - 1), proofs, strict=False):
        proof = later
    return program_schedule(proof)


def inputs_of(execution: Execution) -> str:
    """The integers that an execution has chosen, each in two halves."""
    halves = [half for step in execution.schedule.steps for half in step.choices]
    return " ".join(str(high << 16 | low) for high, low in list(pairwise(halves))[::2])


def run(program: Path, inputs: str, seed: int) -> str:
    environment = {**os.environ, "INPUTS": inputs, "SEED": str(seed)}
    done = subprocess.run([program], capture_output=True, text=True, timeout=30, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, ""), program.with_suffix(".c").read_text()
    return done.stdout


def builds(source: Path, schedule: ProgramSchedule) -> Iterator[Path]:
    for level in LEVELS:
        program = source.with_suffix(f".{level}")
        build([source], schedule, program, optimise=level)
        yield program


def check_ending(folder: Path, seed: int) -> None:
    """A program that ends prints what the machine prints for the same inputs."""
    source = folder / "program.c"
    schedule = find_schedule(source, Program(seed, ends=True, inputs=True).text)
    executions = [follow(schedule, seed=number, steps=10_000) for number in range(3)]
    for program in builds(source, schedule):
        for number, execution in enumerate(executions):
            assert run(program, inputs_of(execution), number) == execution.output.decode(), source.read_text()


def check_endless(folder: Path, seed: int) -> None:
    """The threads of a program that does not end read the same at all levels."""
    source = folder / "program.c"
    schedule = find_schedule(source, Program(seed, ends=False, inputs=True).text)
    inputs = inputs_of(follow(schedule, seed=seed, steps=100))
    notes = {run(program, inputs, number) for program in builds(source, schedule) for number in range(3)}
    assert len(notes) == 1, source.read_text()


def check_choices(folder: Path, seed: int) -> None:
    """Where several threads may go on, a program prints one of the things that the machine can print."""
    source = folder / "program.c"
    schedule = find_schedule(source, Program(seed, ends=True, inputs=False).text, iterations=3)
    assert any(len(node.threads) > 1 for node in schedule.proof.nodes)
    possible: set[str] = set()
    numbers = iter(range(1000))
    for program in builds(source, schedule):
        for delays in range(6):
            printed = run(program, "", delays)
            while printed not in possible:
                number = next(numbers, None)
                assert number is not None, f"{program.name} prints {printed}\n{source.read_text()}"
                possible.add(follow(schedule, seed=number, steps=10_000).output.decode())


@pytest.mark.parametrize("seed", [8, 13])
def test_a_program_that_ends(tmp_path: Path, seed: int) -> None:
    check_ending(tmp_path, seed)


@pytest.mark.parametrize("seed", [6, 29])
def test_a_program_that_does_not_end(tmp_path: Path, seed: int) -> None:
    check_endless(tmp_path, seed)


@pytest.mark.parametrize("seed", [1, 9])
def test_a_program_with_choices(tmp_path: Path, seed: int) -> None:
    check_choices(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_more_programs(tmp_path: Path, seed: int) -> None:
    check_ending(tmp_path, seed)
    check_endless(tmp_path, seed)
    check_choices(tmp_path, seed)
