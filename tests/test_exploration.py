"""The explorers against the oracle, on random programs."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mazurka import _native
from mazurka.transforms.lowering import Lowered, lower
from tests.oracle.generator import Shape, build, random_shape, shapes
from tests.oracle.oracle import Graph, Oracle, Outcome, TooLarge


def explore(lowered: Lowered, algorithm: str, *, commute: bool = True, seed: int = 0) -> _native.Exploration:
    exploration = _native.Exploration(
        lowered.code,
        algorithm=algorithm,
        commute=commute,
        keep_going=True,
        keep_executions=True,
        instruction_limit=10_000,
        seed=seed,
    )
    exploration.run()
    assert exploration.finished()
    return exploration


def expected_counts(outcomes: list[Outcome]) -> tuple[int, int, int]:
    blocked = sum(outcome.status == "blocked" for outcome in outcomes)
    return len(outcomes) - blocked, blocked, 0


def has_bug(outcomes: list[Outcome]) -> bool:
    return any(outcome.failure or outcome.status == "deadlock" for outcome in outcomes)


def classes(oracle: Oracle, exploration: _native.Exploration) -> list[Graph]:
    """The equivalence classes of the executions that were explored, by replaying them."""
    names = exploration.thread_names()
    return [
        oracle.graph_of([(names[thread - 1], tuple(choices)) for thread, choices in execution])
        for execution in exploration.executions()
    ]


def compare_with_oracle(shape: Shape, limit: int, *, commute: bool = True, seed: int = 0) -> bool:
    """Every explorer finds what the oracle finds, each class once. False: too large to tell."""
    lowered = lower(build(shape))
    oracle = Oracle(lowered, commute=commute)
    try:
        executions = list(oracle.interleavings(limit))
        exhaustive = explore(lowered, "exhaustive")
        outcomes = [outcome for _, outcome in executions]
        assert exhaustive.progress()[:3] == expected_counts(outcomes)
        assert (exhaustive.bug() is not None) == has_bug(outcomes)
        traces = {oracle.graph(execution): outcome for execution, outcome in executions}
        # Equivalent executions end alike.
        assert all(traces[oracle.graph(execution)] == outcome for execution, outcome in executions)
        assert oracle.traces(limit) == traces
    except TooLarge:
        try:
            traces = oracle.traces(limit)
        except TooLarge:
            return False
    outcomes = list(traces.values())
    for algorithm in ("optimal", "pop"):
        exploration = explore(lowered, algorithm, commute=commute, seed=seed)
        assert exploration.progress()[:3] == expected_counts(outcomes)
        assert (exploration.bug() is not None) == has_bug(outcomes)
        found = classes(oracle, exploration)
        assert len(found) == len(traces)
        assert set(found) == traces.keys()
    return True


@settings(max_examples=300)
@given(shapes(), st.booleans(), st.integers(0, 3))
def test_explorers_agree_with_the_oracle(shape: Shape, commute: bool, seed: int) -> None:
    """Whichever thread goes first (`seed`)."""
    assume(compare_with_oracle(shape, limit=600, commute=commute, seed=seed))


# Each of these was explored wrongly once.
REGRESSIONS = {
    "exit conflicts with what accesses nothing": Shape(((), (("choose", 3), ("exit",)), (("choose", 1),))),
    "exit disables what has not happened": Shape(
        ((), (("load", "x"), ("exit",)), (("update", "add", "x", 2, False),)),
    ),
    "the head of a schedule inherits its sleep set": Shape(
        ((), (("store", "x", 2), ("store", "x", 0)), (("load", "x"),), (("load", "x"),)),
    ),
    "a compare-exchange that fails once it comes earlier": Shape(
        ((("store", "x", 1),), (("compare-exchange", "x", 1, 1),), (("load", "x"),)),
    ),
    "and an await that needs it": Shape(
        ((("store", "x", 1),), (("compare-exchange", "x", 1, 0),), (("await load", "x", 0),)),
    ),
    "two awaits that are blocked in the end": Shape(
        ((("await exchange", "y", 0, 1),), (("await load", "y", 0),), (("await load", "y", 0),)),
    ),
    "a guard on two variables, one of which only blocks": Shape(
        (
            (("store", "y", 0),),
            (("lock", "n"), ("await compare-exchange", "x", 0, 2)),
            (("await both", 1),),
            (("load", "y"), ("await both", 0)),
        ),
        joined=3,
    ),
    "a guard that is not always met": Shape(
        ((("store", "x", 2),), (("load", "y"),), (("section await if", "x", "y", 2),)),
    ),
    "a guard that needs one of two rivals": Shape(
        (
            (("section await if", "x", "y", 1),),
            (("compare-exchange", "y", 1, 1), ("store", "y", 1)),
            (("section", "y", "x", 1),),
        ),
    ),
    "two writers behind an await": Shape(
        (
            (("update", "exchange", "x", 2, True),),
            (("await load", "x", 0),),
            (("await load", "x", 0),),
            (("store", "x", 1),),
        ),
    ),
    "a first event that does less in another order": Shape(
        ((("load", "y"),), (("section", "y", "x", 1),), (("section if", "x", "y", 0),)),
    ),
    "a guard that is held up elsewhere": Shape(((("byte store", "y", 2),), (("store", "x", 1),), (("await both", 0),))),
    "two trylocks that fail": Shape(((), (("trylock", "m", ()),), (("trylock", "m", ()),), (("critical", "m", ()),))),
    "exit beside an await": Shape(
        ((), (("update", "xor", "y", 1, True), ("exit",)), (("await compare-exchange", "y", 0, 2), ("choose", 3))),
    ),
    "exit beside threads that do nothing": Shape(
        ((("update", "xor", "x", 2, False),), (("load", "x"), ("exit",)), (), ()),
    ),
    "plans that outlive a failed one": Shape(
        ((("update", "exchange", "x", 2, True),), (("load", "x"),), (("await load", "x", 0), ("store", "x", 0))),
    ),
    "two writers and two readers": Shape(
        (
            (("compare-exchange", "x", 0, 2),),
            (("store", "x", 0),),
            (("load", "x"),),
            (("compare-exchange", "x", 1, 2),),
        ),
    ),
    "a compare-exchange beside an update": Shape(
        (
            (("store", "y", 1),),
            (("update", "or", "y", 2, False),),
            (("compare-exchange", "y", 1, 0),),
            (("load", "y"),),
        ),
    ),
    "a chain of compare-exchanges": Shape(
        (
            (("compare-exchange", "x", 1, 2),),
            (("compare-exchange", "y", 2, 1), ("compare-exchange", "x", 2, 0), ("compare-exchange", "y", 0, 1)),
            (("store", "x", 2), ("load", "x"), ("compare-exchange", "x", 0, 0)),
        ),
        joined=2,
    ),
    "a guard passed by, beside a compare-exchange": Shape(
        (
            (("section await if", "x", "y", 2),),
            (("compare-exchange", "y", 2, 1),),
            (("update", "add", "x", 2, False),),
        ),
    ),
    "two guards that are not always met": Shape(
        ((("load", "x"),), (("section await if", "x", "y", 2),), (("section await if", "y", "x", 2),)),
    ),
    "a guard over updates of one thread": Shape(
        ((("update", "max", "x", 1, False), ("update", "add", "y", 2, False)), (("await both", 0),)),
    ),
    "reads of different sizes": Shape(
        ((("byte store", "y", 0), ("section", "x", "y", 0)), (("byte load", "y"),), (("load", "y"),)),
    ),
    "a lock that is never released": Shape(((), (("lock", "m"),), (("lock", "m"),))),
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", REGRESSIONS)
def test_programs_that_were_once_explored_wrongly(name: str, seed: int) -> None:
    assert compare_with_oracle(REGRESSIONS[name], limit=2000, seed=seed)


@pytest.mark.slow
@settings(max_examples=2000)
@given(shapes(), st.booleans(), st.integers(0, 3))
def test_explorers_agree_with_the_oracle_on_many_programs(shape: Shape, commute: bool, seed: int) -> None:
    assume(compare_with_oracle(shape, limit=4000, commute=commute, seed=seed))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
def test_explorers_agree_with_the_oracle_on_twenty_thousand_programs(chunk: int) -> None:
    for number in range(1000 * chunk, 1000 * (chunk + 1)):
        shape = random_shape(random.Random(number))
        try:
            compare_with_oracle(shape, limit=1500, commute=number % 4 != 0, seed=number % 3)
        except AssertionError as error:
            raise AssertionError(f"program {number}: {shape}") from error
