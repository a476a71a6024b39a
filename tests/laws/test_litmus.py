"""The oracle of weak memory models is right about the literature's litmus tests, and about sequential consistency."""

from __future__ import annotations

from random import Random

import pytest

from mazurka import _native
from mazurka.machine.lowering import lower
from tests.oracle.axioms import MODELS, Litmus, judge
from tests.oracle.litmus import LITMUS_TESTS, Known
from tests.oracle.litmus_generator import random_litmus, to_program
from tests.oracle.store_buffers import buffered_outcomes


@pytest.mark.parametrize("known", LITMUS_TESTS, ids=lambda known: known.name)
def test_the_oracle_agrees_with_the_literature(known: Known) -> None:
    verdicts = judge(known.litmus)
    allowed = {model for model in MODELS if any(map(known.holds, verdicts[model].outcomes))}
    assert allowed == known.allowed
    if known.races is not None:
        assert verdicts["c11"].races == known.races


def test_names_are_unique() -> None:
    assert len({known.name for known in LITMUS_TESTS}) == len(LITMUS_TESTS)


def test_models_are_in_order() -> None:
    """What a stronger model allows, a weaker one does."""
    weaker = [("sc", "tso"), ("tso", "pso"), ("tso", "ra"), ("sc", "c11")]
    for seed in range(150):
        verdicts = judge(random_litmus(Random(seed)))
        for stronger, model in weaker:
            assert verdicts[stronger].outcomes <= verdicts[model].outcomes, seed
            assert verdicts[stronger].complete <= verdicts[model].complete, seed


def compare_with_buffers(litmus: Litmus) -> None:
    verdicts = judge(litmus, ["tso", "pso"])
    assert verdicts["tso"].outcomes == buffered_outcomes(litmus, "tso"), litmus
    assert verdicts["pso"].outcomes == buffered_outcomes(litmus, "pso"), litmus


@pytest.mark.parametrize("known", LITMUS_TESTS, ids=lambda known: known.name)
def test_axioms_say_what_store_buffers_do(known: Known) -> None:
    compare_with_buffers(known.litmus)


def test_axioms_say_what_store_buffers_do_for_random_programs() -> None:
    for seed in range(200):
        compare_with_buffers(random_litmus(Random(seed)))


def compare_with_traces(seed: int) -> None:
    """Under sc, graphs are the classes of executions that the explorers have always counted."""
    litmus = random_litmus(Random(seed))
    verdicts = judge(litmus)
    expected = verdicts["sc"]
    outcomes = sorted({outcome for verdict in verdicts.values() for outcome in verdict.outcomes}, key=repr)
    for outcome in [None, *Random(seed).sample(outcomes, min(len(outcomes), 1))]:
        exploration = _native.Exploration(
            lower(to_program(litmus, outcome)).code, algorithm="optimal", commute=False, keep_going=True, races="warn"
        )
        exploration.run()
        assert exploration.progress()[:3] == (expected.complete, expected.blocked, 0), seed
        assert (exploration.bug() is not None) == (outcome in expected.outcomes), seed
        assert (exploration.race_count() > 0) == expected.races, seed


def test_sequential_consistency_is_that_of_the_explorers() -> None:
    for seed in range(200):
        compare_with_traces(seed)


@pytest.mark.slow
def test_axioms_say_what_store_buffers_do_for_many() -> None:
    for seed in range(200, 10_000):
        compare_with_buffers(random_litmus(Random(seed)))


@pytest.mark.slow
def test_sequential_consistency_is_that_of_the_explorers_for_many() -> None:
    for seed in range(200, 20_000):
        compare_with_traces(seed)
