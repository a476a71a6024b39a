"""`mazurka.check` under each memory model finds a bug where the axioms allow the execution that shows it, and only
there; and what it finds is shown again by the schedule."""

from __future__ import annotations

import json
from random import Random

import pytest

import mazurka
from mazurka import Schedule
from mazurka.executions.interleaving import Unknown, as_interleaving
from mazurka.machine.lowering import lower
from mazurka.program.orders import exceeds_interleavings
from tests.oracle.axioms import MODELS, Litmus, Outcome, Verdict, judge
from tests.oracle.litmus import LITMUS_TESTS, Known
from tests.oracle.litmus_generator import random_litmus, to_program


def compare(litmus: Litmus, outcome: Outcome, verdicts: dict[str, Verdict]) -> set[str]:
    """What occurs under the models: no bug, one that an interleaving shows, or one that none shows."""
    program = to_program(litmus, outcome)
    occurring = set()
    for memory in MODELS:
        allowed, where = outcome in verdicts[memory].outcomes, f"{memory}: {litmus}"
        result = mazurka.check(program, memory=memory)
        if memory == "c11" and not exceeds_interleavings(program, memory) and verdicts[memory].races:
            allowed = outcome in verdicts["sc"].outcomes  # the race is the answer
        assert (result.bug is not None) == allowed, where
        if result.bug is None:
            assert memory != "c11" or bool(result.races) == verdicts["c11"].races, where
            occurring.add("none")
            continue
        assert result.schedule is not None and result.trace is not None
        again = mazurka.replay(program, Schedule.from_json(json.loads(json.dumps(result.schedule.to_json()))))
        assert again.bug == result.bug and again.trace == result.trace, where
        weak = outcome not in verdicts["sc"].outcomes
        # An outcome that interleavings have may be shown by an execution that they have not.
        assert not weak or result.trace.weak is not None, where
        assert (result.trace.weak is None) == shows_interleaving(program, result.schedule), where
        if result.schedule.is_interleaving:
            assert not weak and not result.trace.reads_overwritten, where
        occurring.add("weak" if result.trace.weak else "interleaving")
    return occurring


def shows_interleaving(program: mazurka.Program, schedule: Schedule) -> bool:
    try:
        return as_interleaving(lower(program), schedule) is not None
    except Unknown:
        return False


def compare_random(seeds: range) -> None:
    occurring: set[str] = set()
    for seed in seeds:
        litmus = random_litmus(Random(seed))
        verdicts = judge(litmus)
        outcomes = sorted({outcome for verdict in verdicts.values() for outcome in verdict.outcomes}, key=repr)
        weak = [outcome for outcome in outcomes if outcome not in verdicts["sc"].outcomes]
        if outcomes:
            occurring |= compare(litmus, Random(seed).choice(weak or outcomes), verdicts)
    assert occurring == {"none", "weak", "interleaving"}


@pytest.mark.parametrize("known", LITMUS_TESTS, ids=lambda known: known.name)
def test_the_literature(known: Known) -> None:
    """Each execution that the test is about is found where it is allowed."""
    verdicts = judge(known.litmus)
    outcomes = sorted(
        {each for verdict in verdicts.values() for each in verdict.outcomes if known.holds(each)}, key=repr
    )
    for outcome in outcomes[:1]:
        compare(known.litmus, outcome, verdicts)


def test_random_programs() -> None:
    compare_random(range(300))


@pytest.mark.slow
def test_many_random_programs() -> None:
    compare_random(range(300, 6000))
