"""The livelocks that the explorers report against the graph of all states of the program as it was written."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from mazurka import _native
from mazurka.machine.lowering import Lowered, lower
from mazurka.transforms import prepare
from tests.oracle.livelocks import bug_kinds, is_finite, visit
from tests.oracle.loop_generator import LoopShape, build, random_loop_shape
from tests.oracle.oracle import TooLarge

ALGORITHMS = ("pop", "optimal", "exhaustive")


def found(lowered: Lowered, algorithm: str, *, allow_livelock: bool = False, seed: int = 0) -> str | None:
    """The kind of the first bug."""
    exploration = _native.Exploration(
        lowered.code,
        algorithm=algorithm,
        allow_livelock=allow_livelock,
        seed=seed,
        max_executions=2000,
        instruction_limit=10_000,
    )
    exploration.run()
    if bug := exploration.bug():
        return bug[0]
    if not exploration.finished():
        raise TooLarge
    return None


def agree(kind: str | None, kinds: set[str]) -> None:
    assert kind in kinds if kinds else kind is None, f"{kind} where there can be {kinds}"


def compare(shape: LoopShape, number: int) -> frozenset[str]:
    """Whatever is done about loops, the search finds a livelock where there is one and nothing else goes wrong, and
    none where there is none. The result is what can go wrong."""
    kinds = bug_kinds(visit(prepare(build(shape), purity=False, awaits=False)))
    for awaits in (False, True):
        transformed = prepare(build(shape), awaits=awaits)
        if not is_finite(visit(transformed)):
            continue
        lowered = lower(transformed)
        for algorithm in ALGORITHMS:
            try:
                agree(found(lowered, algorithm, seed=number % 3), kinds)
                agree(found(lowered, algorithm, allow_livelock=True, seed=number % 3), kinds - {"livelock"})
            except TooLarge:
                continue
    return frozenset(kinds)


def compare_random_programs(numbers: range) -> Counter[frozenset[str]]:
    seen: Counter[frozenset[str]] = Counter()
    for number in numbers:
        shape = random_loop_shape(random.Random(number))
        try:
            seen[compare(shape, number)] += 1
        except TooLarge:
            continue
        except AssertionError as error:
            raise AssertionError(f"program {number}: {shape}") from error
    return seen


def test_livelocks_are_found_where_there_are_any() -> None:
    seen = compare_random_programs(range(100))
    assert seen[frozenset({"livelock"})] > 15 and seen[frozenset()] > 15


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_livelocks_are_found_where_there_are_any_in_many_programs(chunk: int) -> None:
    compare_random_programs(range(500 * chunk, 500 * (chunk + 1)))
