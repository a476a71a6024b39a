"""With `keep_going`, the algorithms find the same bugs, each of them: those that all interleavings show."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from mazurka.deadline import NEVER
from mazurka.engines import stateless
from mazurka.executions.recording import record
from mazurka.machine.lowering import Lowered, lower
from tests.oracle.generator import Operation, Shape, build, random_section_shape, random_shape


def bugs_of(lowered: Lowered, algorithm: str, seed: int = 0) -> tuple[bool, set[tuple[Any, ...]]]:
    """Whether everything was covered; the kinds of all bugs, and of failures where they are."""
    options = stateless.Options(
        algorithm=algorithm, seed=seed, keep_going=True, races="ignore", max_executions=3000, commute=False
    )
    outcome = stateless.explore(lowered, options)
    bugs: set[tuple[Any, ...]] = set()
    for found in ([outcome.bug] if outcome.bug else []) + list(outcome.others):
        machine = record(lowered, found.schedule, NEVER, uninitialised=True).machine
        threads = {machine.thread_name(thread): thread for thread in machine.threads()}
        failure = machine.failure_of(threads[found.thread or "main"])
        assert (failure is None) == (found.kind in ("deadlock", "livelock"))
        bugs.add((found.kind,) if failure is None else (failure.fault, tuple(failure.frames)))
    return outcome.coverage.finished, bugs


def with_checks(shape: Shape, source: random.Random) -> Shape:
    """The same program, which looks now and then at what it has read, and fails if that is not so."""

    def checked(operations: Sequence[Operation]) -> Iterator[Operation]:
        for operation in operations:
            yield operation
            if source.random() < 0.4:
                yield ("check last", source.randrange(3))

    return replace(shape, threads=tuple(tuple(checked(thread)) for thread in shape.threads))


def compare(generator: Callable[[random.Random], Shape], numbers: range) -> int:
    """How many of these programs have more than one bug."""
    several = 0
    for number in numbers:
        source = random.Random(number)
        shape = with_checks(generator(source), source)
        lowered = lower(build(shape))
        finished, expected = bugs_of(lowered, "exhaustive")
        if not finished:
            continue
        several += len(expected) > 1
        for algorithm in ("optimal", "pop"):
            assert bugs_of(lowered, algorithm, number % 3) == (True, expected), f"program {number}: {shape}"
    return several


@pytest.mark.parametrize("generator", [random_shape, random_section_shape])
def test_the_algorithms_find_the_same_bugs(generator: Callable[[random.Random], Shape]) -> None:
    assert compare(generator, range(150)) > 5


@pytest.mark.slow
@pytest.mark.parametrize("generator", [random_shape, random_section_shape])
def test_the_algorithms_find_the_same_bugs_in_many_programs(generator: Callable[[random.Random], Shape]) -> None:
    compare(generator, range(150, 5000))
