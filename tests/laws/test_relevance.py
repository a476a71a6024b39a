"""What a trace takes for relevant: whatever went wrong, and whatever that read, is always part of it."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

import mazurka
from mazurka import _native
from mazurka._native import Machine, Operation
from mazurka.executions.ending import way_on
from mazurka.executions.naming import Names
from mazurka.executions.positions import Source
from mazurka.executions.relevance import Relevance
from mazurka.machine.lowering import lower
from tests.oracle.generator import Shape, build, random_section_shape, random_shape


def random_walk(machine: Machine, dice: random.Random) -> list[Operation]:
    """What was done in an execution by chance."""
    for _ in range(60):
        ready = [thread for thread in machine.threads() if machine.status(thread) == "ready"]
        ways = [(thread, way) for thread in ready if (way := way_on(machine, thread)) is not None]
        if not ways or machine.failed() or machine.exited():
            break
        machine.step(*dice.choice(ways))
    return machine.operations()


def writes_into(one: Operation, other: Operation) -> bool:
    overlap = one.address < other.address + other.size and other.address < one.address + one.size
    return overlap and one.written is not None and one.kind in ("store", "update", "compare-exchange")


@pytest.mark.parametrize("generator", [random_shape, random_section_shape])
def test_what_is_read_from_is_nearly_as_relevant_as_what_reads(generator: Callable[[random.Random], Shape]) -> None:
    """Compared with a search through all that came before."""
    followed = 0
    for seed in range(150):
        dice = random.Random(seed)
        program = build(generator(dice))
        lowered = lower(program)
        machine = _native.Machine(lowered.code, record=True)
        operations = random_walk(machine, dice)
        relevance = Relevance(operations, Source(lowered), Names(program, lowered, machine))
        seeds = [index for index, operation in enumerate(operations) if operation.read is not None][-2:]
        for index in seeds:
            relevance.add(index)
        distances = relevance.distances()
        assert all(distances[index] == 0 for index in seeds)
        for index, operation in enumerate(operations):
            distance = distances[index]
            if distance is None or operation.read is None or operation.kind == "choose":
                continue
            earlier = [other for other in range(index) if writes_into(operations[other], operation)]
            if earlier:
                followed += 1
                near = distances[earlier[-1]]
                assert near is not None and near <= distance + 1
    assert followed > 50


def test_the_failing_step_and_what_it_depends_on_are_shown_of_a_long_trace(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text("""
    #include <assert.h>
    #include <pthread.h>
    #include <stdatomic.h>
    atomic_int noise, flag; int shared;
    int twice(int x) { return 2 * x; }
    void *setter(void *unused) {
        shared = twice(21);
        atomic_store(&flag, 1);
        for (int i = 0; i < 1500; i++)
            atomic_fetch_add(&noise, i % 7);
        return unused;
    }
    int main(void) {
        pthread_t thread;
        pthread_create(&thread, 0, setter, 0);
        pthread_join(thread, 0);
        int last = atomic_load(&noise);
        if (atomic_load(&flag) == 1)
            assert(shared == 43);
        return last;
    }
    """)
    trace = mazurka.check(path).trace
    assert trace is not None and len(trace.steps) == 1000 and trace.omitted > 0
    near = [action.text for step in trace.steps if step.distance is not None for action in step.actions]
    assert {"writes shared = 42", "writes flag = 1", "reads flag = 1", "reads shared = 42"} <= set(near)
    assert not any("noise" in text for text in near)
    assert [step.distance for step in trace.steps if step.failed] == [0]
