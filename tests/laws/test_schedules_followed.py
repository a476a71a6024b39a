"""What schedules promise, as properties of executions in the virtual machine: each permitted one is safe, does not
deadlock, passes over nobody, and does what the proof says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path
from random import Random
from threading import Timer

import pytest

from mazurka.constrained import load_model
from mazurka.constrained.checker import check
from mazurka.constrained.extract.extraction import extract
from mazurka.constrained.follow import PATIENCE, Departure, Execution, follow
from mazurka.constrained.impact.iterative import IterativeImpact
from mazurka.constrained.model import Model
from mazurka.constrained.picture import describe
from mazurka.constrained.plan import ProgramSchedule, program_schedule
from mazurka.constrained.proof import Proof
from mazurka.errors import InputError
from mazurka.executions.replaying import replay_schedule
from mazurka.machine.lowering import lower
from mazurka.transforms import prepare
from tests.oracle.generator import build, random_await_shape, random_section_shape, random_shape

STACK = """
#include <assert.h>
#include <pthread.h>
int __VERIFIER_nondet_range(int low, int high);
int items[3], count;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *producer(void *unused) {
    while (1) {
        pthread_mutex_lock(&m);
        if (count < 3) { items[count] = __VERIFIER_nondet_range(1, 9); count++; }
        pthread_mutex_unlock(&m);
    }
}
void *consumer(void *unused) {
    while (1) {
        pthread_mutex_lock(&m);
        if (count > 0) { count--; assert(items[count] > 0); }
        pthread_mutex_unlock(&m);
    }
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, producer, 0);
    pthread_create(&threads[1], 0, consumer, 0);
    pthread_join(threads[0], 0);
    return 0;
}
"""

DOUBLE_LOCK = """
#include <pthread.h>
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
void *one(void *unused) {
    while (1) {
        pthread_mutex_lock(&a);
        pthread_mutex_lock(&b);
        pthread_mutex_unlock(&b);
        pthread_mutex_unlock(&a);
    }
}
void *two(void *unused) {
    while (1) {
        pthread_mutex_lock(&b);
        pthread_mutex_lock(&a);
        pthread_mutex_unlock(&a);
        pthread_mutex_unlock(&b);
    }
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, two, 0);
    pthread_join(threads[0], 0);
    return 0;
}
"""

# The input decides at each round what the worker does next: a branch in each cycle.
BRANCHES = """
#include <assert.h>
#include <pthread.h>
int __VERIFIER_nondet_range(int low, int high);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int left, right;
void *worker(void *unused) {
    while (1) {
        if (__VERIFIER_nondet_range(0, 1)) {
            pthread_mutex_lock(&m);
            left = !left;
            pthread_mutex_unlock(&m);
        } else {
            right = right ^ 1;
        }
    }
}
void *watcher(void *unused) {
    while (1) {
        pthread_mutex_lock(&m);
        assert(left == 0 || left == 1);
        pthread_mutex_unlock(&m);
    }
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, worker, 0);
    pthread_create(&threads[1], 0, watcher, 0);
    pthread_join(threads[0], 0);
    return 0;
}
"""

# A lost update under most schedules; the assertion holds under some. It ends, and prints.
ENDS = """
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
int count;
void *add(void *unused) { int seen = count; count = seen + 1; return 0; }
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(count == 2);
    puts("done");
    return 0;
}
"""

HANDSHAKE = """
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int turn;
void *player(void *argument) {
    int me = argument != 0;
    while (1) {
        pthread_mutex_lock(&m);
        while (turn != me) pthread_cond_wait(&changed, &m);
        turn = !me;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&m);
    }
}
int main(void) {
    pthread_t threads[2];
    static int other;
    pthread_create(&threads[0], 0, player, 0);
    pthread_create(&threads[1], 0, player, &other);
    pthread_join(threads[0], 0);
    return 0;
}
"""

# Who has read one of the two too early must read it again, not wait for the other to change.
SUM = """
#include <pthread.h>
#include <stdatomic.h>
atomic_int a, b, served;
void *waiter(void *unused) {
    while (1) {
        int x, y;
        do { x = a; y = b; } while (x + y != 2);
        served = 1;
    }
}
void *other(void *unused) {
    while (1) { b = 1; a = 1; }
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, waiter, 0);
    pthread_create(&threads[1], 0, other, 0);
    pthread_join(threads[0], 0);
    return 0;
}
"""

PROGRAMS = {
    "stack": STACK,
    "double lock": DOUBLE_LOCK,
    "branches": BRANCHES,
    "ends": ENDS,
    "handshake": HANDSHAKE,
    "sum": SUM,
}


def model_of(text: str, folder: Path) -> Model:
    path = folder / "program.c"
    path.write_text(text.lstrip())
    return load_model([path])


def proofs(model: Model) -> Iterator[Proof]:
    return (result for result in IterativeImpact(model).iterate() if isinstance(result, Proof))


def schedules_of(proof: Proof) -> list[ProgramSchedule]:
    return [program_schedule(proof), program_schedule(proof, repeat=3, elements=True)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_permitted_executions_keep_all_promises(name: str, tmp_path: Path) -> None:
    model = model_of(PROGRAMS[name], tmp_path)
    assert model.program is not None and model.lowered is not None
    found = list(islice(proofs(model), 3))
    assert found
    for proof in found:
        for schedule in schedules_of(proof):
            assert check(model, schedule) == []
            for seed in range(5):
                execution = follow(schedule, seed=seed, steps=300)
                assert_fair(execution, 2 * sum(len(section.events) for section in schedule.sections))
                # The machine alone finds nothing wrong with it, either.
                assert (
                    replay_schedule(model.program, model.lowered, execution.schedule, any_status=True).end.bug is None
                )
        for seed in range(5):
            assert_fair(follow(proof, seed=seed, steps=300), len(proof.nodes))


def assert_fair(execution: Execution, everywhere: int) -> None:
    """A thread that can run does, before the others have been everywhere more often than it may be passed over."""
    assert max(execution.waits) <= PATIENCE * everywhere


def test_a_program_ends_as_it_does_without_a_schedule(tmp_path: Path) -> None:
    for proof in islice(proofs(model_of(ENDS, tmp_path)), 3):
        for schedule in schedules_of(proof):
            execution = follow(schedule, seed=1)
            assert (execution.ended, execution.output) == (True, b"done\n")


def test_a_thread_that_came_too_early_is_served(tmp_path: Path) -> None:
    for proof in islice(proofs(model_of(SUM, tmp_path)), 3):
        for seed in range(5):
            latest = follow(program_schedule(proof), seed=seed, steps=150).transitions[-50:]
            assert any(each.source.point and each.source.point.what == "writes served" for each in latest)


LOCK_ROUNDS = """
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;
void *add(void *unused) {
    while (1) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); }
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
    pthread_join(threads[0], 0);
    return 0;
}
"""


def most_alone(proof: Proof) -> int:
    run = follow(proof, seed=0, steps=300).transitions[20:]
    return max(len(list(steps)) for _, steps in groupby(each.thread for each in run))


def test_a_thread_that_may_run_again_and_again_has_its_turn(tmp_path: Path) -> None:
    """Also where others may go round for ever instead."""
    first, second = islice(proofs(model_of(LOCK_ROUNDS, tmp_path)), 2)
    for schedule in (second, program_schedule(second)):
        for seed in range(5):
            run = [each.thread for each in follow(schedule, seed=seed, steps=300).transitions[20:]]
            alone = max(len(list(steps)) for _, steps in groupby(run))
            assert most_alone(first) < alone <= (PATIENCE + 1) * most_alone(first)


def test_equal_seeds_give_equal_executions(tmp_path: Path) -> None:
    proof = next(proofs(model_of(BRANCHES, tmp_path)))
    schedule = program_schedule(proof)
    runs = [follow(schedule, seed=seed, steps=60).schedule for seed in (1, 1, 2, 3)]
    assert runs[0] == runs[1]
    assert len(set(runs)) > 1


def test_what_is_permitted_in_words(tmp_path: Path) -> None:
    schedule = program_schedule(next(proofs(model_of(DOUBLE_LOCK, tmp_path))))
    assert describe(schedule)[-1] == "2: one (lines 5-8), then two (lines 13-16), and again"


def test_an_execution_that_leaves_a_wrong_schedule_is_found_out(tmp_path: Path) -> None:
    proof = next(proofs(model_of(BRANCHES, tmp_path)))
    schedule = program_schedule(proof)
    branch = next(node for node in schedule.nodes if len(schedule.sections_at(node)) > 1)
    dropped = schedule.sections_at(branch)[0]
    fewer = replace(schedule, sections=tuple(each for each in schedule.sections if each is not dropped))
    assert check(proof.model, fewer)
    with pytest.raises(Departure, match="no section begins with transition"):
        for seed in range(20):
            follow(fewer, seed=seed, steps=60)


def test_a_program_is_the_same_program_in_every_run(tmp_path: Path) -> None:
    """A schedule that was made in one run fits the program in another."""
    path = tmp_path / "program.c"
    path.write_text(HANDSHAKE)
    script = (
        "from mazurka.constrained import load_model; from mazurka.constrained.files import digest;"
        f"print(digest(load_model([{str(path)!r}])))"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(digests) == 1


def follow_generated(seed: int) -> int:
    """Check and follow the first schedules of a random program; how many there are."""
    source = Random(seed)
    kind = source.choice([random_shape, random_await_shape, random_section_shape])
    program = build(kind(source))
    prepare(program, purity=False)
    try:
        model = extract(program, lower(program))
        search = IterativeImpact(model)
        patience = Timer(5, search.stop)
        patience.start()
        try:
            results = list(islice(search.iterate(), 25))
        finally:
            patience.cancel()
    except InputError:
        return 0  # memory from malloc is out of reach
    found = [result for result in results if isinstance(result, Proof)][:3]
    for proof in found:
        for schedule in schedules_of(proof):
            assert check(model, schedule) == []
            execution = follow(schedule, seed=seed, steps=100)
            assert replay_schedule(program, lower(program), execution.schedule, any_status=True).end.bug is None
        follow(proof, seed=seed, steps=100)
    return len(found)


def test_schedules_of_generated_programs() -> None:
    assert sum(map(follow_generated, range(12))) > 5


@pytest.mark.slow
def test_schedules_of_many_generated_programs() -> None:
    assert sum(map(follow_generated, range(1000, 1300))) > 100
