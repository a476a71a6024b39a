"""The explorers against the oracle, on random programs."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings

from mazurka import _native
from mazurka.transforms.lowering import Lowered, lower
from tests.oracle.generator import Shape, build, shapes
from tests.oracle.oracle import Oracle, Outcome, TooLarge


def explore(lowered: Lowered, algorithm: str, *, commute: bool = True) -> _native.Exploration:
    exploration = _native.Exploration(
        lowered.code, algorithm=algorithm, commute=commute, keep_going=True, instruction_limit=10_000
    )
    exploration.run()
    assert exploration.finished()
    return exploration


def expected_counts(outcomes: list[Outcome]) -> tuple[int, int]:
    blocked = sum(outcome.status == "blocked" for outcome in outcomes)
    return len(outcomes) - blocked, blocked


def has_bug(outcomes: list[Outcome]) -> bool:
    return any(outcome.failure or outcome.status == "deadlock" for outcome in outcomes)


def compare_with_oracle(shape: Shape, limit: int) -> None:
    lowered = lower(build(shape))
    oracle = Oracle(lowered)
    try:
        executions = list(oracle.interleavings(limit))
    except TooLarge:
        executions = None
    if executions is not None:
        exhaustive = explore(lowered, "exhaustive")
        outcomes = [outcome for _, outcome in executions]
        assert exhaustive.progress()[:3] == (*expected_counts(outcomes), 0)
        assert (exhaustive.bug() is not None) == has_bug(outcomes)
        traces = {oracle.graph(execution): outcome for execution, outcome in executions}
        # Equivalent executions end alike.
        assert all(traces[oracle.graph(execution)] == outcome for execution, outcome in executions)
        assert oracle.traces(limit) == traces
    else:
        try:
            traces = oracle.traces(limit)
        except TooLarge:
            assume(False)
    reduced = explore(lowered, "sleepsets")
    outcomes = list(traces.values())
    assert reduced.progress()[:2] == expected_counts(outcomes)
    assert (reduced.bug() is not None) == has_bug(outcomes)


@settings(max_examples=300)
@given(shapes())
def test_explorers_agree_with_the_oracle(shape: Shape) -> None:
    compare_with_oracle(shape, limit=600)


@pytest.mark.parametrize(
    "shape",
    [
        # `exit` conflicts with every event, also with one that accesses nothing.
        Shape(((), (("choose", 3), ("exit",)), (("choose", 1),))),
    ],
)
def test_programs_that_were_once_explored_wrongly(shape: Shape) -> None:
    compare_with_oracle(shape, limit=600)


@pytest.mark.slow
@settings(max_examples=2000)
@given(shapes())
def test_explorers_agree_with_the_oracle_on_many_programs(shape: Shape) -> None:
    compare_with_oracle(shape, limit=4000)
