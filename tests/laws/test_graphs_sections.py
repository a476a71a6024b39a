"""Execution graphs of programs with locks and atomic sections, judged by axioms, under all memory models."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from mazurka import _native
from mazurka.machine.layout import address_of
from mazurka.machine.lowering import lower
from tests.oracle.axioms import MODELS, Outcome
from tests.oracle.axioms_sections import Program, judge
from tests.oracle.litmus_generator import BITS
from tests.oracle.section_generator import random_program, to_program

native: Any = _native  # (its stub need not know graphs)


@dataclass(frozen=True)
class Found:
    counts: tuple[int, int]  # complete and blocked
    outcomes: frozenset[Outcome]  # of all executions, also of those in which some thread waits for ever
    races: bool
    deadlock: bool


def explore(program: Program, model: str) -> Found:
    lowered = lower(to_program(program))
    exploration = native.GraphExploration(
        lowered.code, memory=model, keep_going=True, races="warn", keep_executions=True
    )
    exploration.run()
    machine = native.Machine(lowered.code, thread_names=exploration.thread_names())
    start = machine.mark()
    objects = [*lowered.functions, *lowered.globals]
    addresses = {name: address_of(0, number) for number, name in enumerate(objects, 1)}

    def read(name: str, size: int) -> int:
        return int.from_bytes(machine.read(addresses[name], size), "little")

    outcomes = set()
    for execution in exploration.executions():
        # The last step may be one of nobody, which says what is in memory where that is not what was written last.
        ends = execution[-1][0] == 0
        left = {address: value for address, _, value, _, _ in execution[-1][2]} if ends else {}
        machine.rewind(start)
        assert machine.follow(execution, past_failures=True) >= len(execution) - ends
        registers = tuple(
            tuple(
                read(f"result{thread}", 8) >> (BITS * index) & ((1 << BITS) - 1)
                for index in range(len(program.registers(thread)))
            )
            for thread in range(len(program.threads))
        )
        memory = tuple(left.get(addresses[name], read(name, 4)) for name in program.locations)
        outcomes.add(Outcome(registers, memory))
    return Found(
        exploration.progress()[:2],
        frozenset(outcomes),
        exploration.race_count() > 0,
        any(exploration.bug_at(number)[0] == "deadlock" for number in range(exploration.bug_count())),
    )


def compare(seed: int, most: int = 6) -> None:
    program = random_program(Random(seed), most)
    if any(len(program.registers(thread)) * BITS > 64 for thread in range(len(program.threads))):
        return
    for model, expected in judge(program).items():
        if not expected.reached:
            continue  # then it is not known that other threads share a location with a section
        found = explore(program, model)
        assert found.counts == (expected.complete, expected.blocked), (seed, model)
        assert found.outcomes >= expected.outcomes, (seed, model)
        if not expected.blocked and not expected.deadlock:
            assert found.outcomes == expected.outcomes, (seed, model)
        # A thread that waits for ever may be in a race, and in a circle with others, which the oracle does not know.
        assert expected.deadlock <= found.deadlock <= (expected.deadlock or expected.blocked > 0), (seed, model)
        if model == "c11":
            assert expected.races <= found.races <= (expected.races or expected.blocked > 0), seed


def test_models_are_those_of_the_oracle() -> None:
    assert list(judge(random_program(Random(0)))) == list(MODELS)


def test_graphs_are_those_of_the_axioms() -> None:
    for seed in range(300):
        compare(seed)


@pytest.mark.slow
def test_graphs_are_those_of_the_axioms_for_many() -> None:
    for seed in range(300, 20_000):
        compare(seed)


@pytest.mark.slow
def test_graphs_are_those_of_the_axioms_for_larger_ones() -> None:
    for seed in range(100_000, 103_000):
        compare(seed, 8)
