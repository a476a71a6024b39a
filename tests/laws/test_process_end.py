"""The end of the process: that `main` returns, as late as can be, is as good as that it ends the process at once.

The judge has no part in the engines' notion of it: in the programs that it goes through, state by state, `main` does
not return but exits, as C says that it does.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from mazurka import _native
from mazurka.machine.lowering import Lowered, lower
from mazurka.program.builder import FunctionBuilder
from mazurka.program.instructions import Value
from mazurka.program.program import Program
from mazurka.transforms import find_private_objects
from tests.laws.test_exploration import compare_with_oracle
from tests.oracle import generator, state_generator
from tests.oracle.oracle import TooLarge
from tests.oracle.states import Bug, reach

Finish = Callable[[FunctionBuilder, dict[str, Value]], None]
Make = Callable[[random.Random, Finish | None], Program]


def returns(f: FunctionBuilder, variables: dict[str, Value]) -> None:
    """With a status that depends on what the others did: one of some thousands is 0 as far as anybody sees."""
    f.end_thread(f.mul(f.load(variables["x"]), 128))


def exits(f: FunctionBuilder, variables: dict[str, Value]) -> None:
    f.exit(f.mul(f.load(variables["x"]), 128))


def short_program(source: random.Random, finish: Finish | None) -> Program:
    return generator.build(generator.random_shape(source), finish)


def section_program(source: random.Random, finish: Finish | None) -> Program:
    return generator.build(generator.random_section_shape(source), finish)


def endless_program(source: random.Random, finish: Finish | None) -> Program:
    return state_generator.build(state_generator.random_state_shape(source), finish)


def ready(program: Program) -> Lowered:
    find_private_objects(program)
    return lower(program)


def bugs(search: _native.StateSearch) -> set[Bug]:
    return {(kind, tuple(sorted(what)) if kind == "deadlock" else what) for kind, what in search.bugs()}


def compare(make: Make, number: int) -> str:
    """What a program does: nothing wrong, something, or too much."""
    literal = ready(make(random.Random(number), exits))
    try:
        expected = reach(literal, limit=1500).bugs
    except TooLarge:
        return "large"
    lowered = ready(make(random.Random(number), returns))
    for reduction in ("none", "cpc"):
        search = _native.StateSearch(lowered.code, reduction=reduction, keep_going=True)
        search.run()
        assert search.finished() and bugs(search) == expected, f"{make.__name__} {number}: {reduction}"
    if make is not endless_program:
        for algorithm in ("pop", "optimal"):
            exploration = _native.Exploration(
                lowered.code, algorithm=algorithm, allow_livelock=True, max_executions=5000
            )
            exploration.run()
            found = exploration.bug()
            assert found is not None or exploration.finished() or not expected
            assert (found is not None) == bool(expected), f"{make.__name__} {number}: {algorithm}"
    return ", ".join(sorted({str(what[0]) if kind == "failure" else kind for kind, what in expected})) or "fine"


@pytest.mark.parametrize("make", [short_program, section_program, endless_program])
def test_to_return_from_main_is_to_exit(make: Make) -> None:
    found = Counter(compare(make, number) for number in range(150))
    assert found["fine"] and any("exit_status" in kinds for kinds in found), found


@pytest.mark.slow
@pytest.mark.parametrize("make", [short_program, section_program, endless_program])
@pytest.mark.parametrize("chunk", range(10))
def test_to_return_from_main_is_to_exit_in_many_programs(make: Make, chunk: int) -> None:
    for number in range(1000 + 1000 * chunk, 2000 + 1000 * chunk):
        compare(make, number)


@pytest.mark.parametrize("make", [short_program, section_program])
def test_where_main_returns_the_explorers_agree_with_the_oracle(make: Make) -> None:
    """Each class once, and what becomes of those who still wait."""
    assert sum(compare_with_oracle(lower(make(random.Random(number), returns)), 400) for number in range(100)) > 20
