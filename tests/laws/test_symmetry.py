"""Threads that are alike: the explorers against the oracle, which tries all names."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from mazurka import _native
from mazurka.machine.lowering import Lowered, lower
from tests.oracle.axioms import MODELS, CompareExchange, Litmus, Load, Operation, Store, Update
from tests.oracle.generator import (
    Shape,
    build,
    random_access_shape,
    random_await_shape,
    random_section_shape,
    random_shape,
)
from tests.oracle.litmus_generator import random_litmus, to_program
from tests.oracle.oracle import Oracle, TooLarge
from tests.oracle.symmetry import alike_shape, groups_of, orbit, renamings

GENERATORS = [random_shape, random_access_shape, random_await_shape, random_section_shape]


def explore(lowered: Lowered, *, symmetry: bool, commute: bool, seed: int, races: str) -> _native.Exploration:
    exploration = _native.Exploration(
        lowered.code,
        algorithm="optimal",
        symmetry=symmetry,
        commute=commute,
        seed=seed,
        races=races,
        keep_going=True,
        keep_executions=True,
        instruction_limit=10_000,
        max_executions=3000,
    )
    exploration.run()
    return exploration


def bugs(exploration: _native.Exploration | _native.GraphExploration) -> set[tuple[str, str | None]]:
    found = [exploration.bug_at(number) for number in range(exploration.bug_count())]
    return {(kind, fault) for kind, _, _, fault, _ in found}


def races(exploration: _native.Exploration) -> int:
    """(Both in the same code: how many pairs of places there are says that they are the same.)"""
    return exploration.race_count()


def compare(shape: Shape, *, commute: bool, seed: int, data_races: str) -> bool | None:
    """Whether there is something that is explored in fewer executions; None: there are too many to tell."""
    lowered = lower(build(shape))
    every = explore(lowered, symmetry=False, commute=commute, seed=seed, races=data_races)
    if not every.finished():
        return None
    some = explore(lowered, symmetry=True, commute=commute, seed=seed, races=data_races)
    assert some.finished()
    assert some.progress()[2] == 0
    if some.told_apart() is None:
        assert some.progress()[:3] == every.progress()[:3]
        return False
    assert some.told_apart() == every.progress()[:2]
    assert bugs(some) == bugs(every)
    assert races(some) == races(every)
    return some.progress()[:2] != every.progress()[:2]


def compare_orbits(shape: Shape, limit: int, *, commute: bool, seed: int) -> bool:
    """One execution of each set of those that differ only in names is explored. False: too large to tell."""
    lowered = lower(build(shape))
    oracle = Oracle(lowered, commute=commute)
    try:
        traces = oracle.traces(limit)
    except TooLarge:
        return False
    some = explore(lowered, symmetry=True, commute=commute, seed=seed, races="ignore")
    if some.told_apart() is None:
        return False
    names = some.thread_names()
    slots = {name: number for number, name in enumerate(names, 1)}
    renamed = list(renamings(groups_of(shape)))
    wanted = {orbit(graph, renamed, slots) for graph in traces}
    found = [
        orbit(
            oracle.graph_of([(names[thread - 1], tuple(choices)) for thread, choices, _ in execution]), renamed, slots
        )
        for execution in some.executions()
    ]
    assert len(found) == len(set(found))
    assert set(found) == wanted
    return True


def check_random(numbers: range) -> tuple[int, int]:
    """How many of these random programs had fewer executions, and how many the oracle has looked at."""
    fewer = looked = 0
    for number in numbers:
        source = random.Random(number)
        generate: Callable[[random.Random], Shape] = GENERATORS[number % 4]
        shape = alike_shape(generate, source, source.choice([3, 4, 4]))
        commute, seed = number % 5 != 0, number % 3
        try:
            fewer += bool(compare(shape, commute=commute, seed=seed, data_races="warn" if number % 2 else "ignore"))
            looked += compare_orbits(shape, 300, commute=commute, seed=seed)
        except (AssertionError, RuntimeError) as error:
            raise AssertionError(f"program {number}: {shape}") from error
    return fewer, looked


def test_one_execution_stands_for_those_with_other_names() -> None:
    fewer, looked = check_random(range(300))
    assert fewer > 75
    assert looked > 75


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
def test_one_execution_stands_for_those_with_other_names_in_many_programs(chunk: int) -> None:
    check_random(range(1000 * (chunk + 1), 1000 * (chunk + 2)))


# What made a count wrong once, or could.
REGRESSIONS = {
    "who chooses the less goes first": Shape(((), (("choose", 3),), (("choose", 3),), (("choose", 3),)), alike=True),
    "updates that commute": Shape(
        (
            (("load", "x"),),
            (("update", "add", "x", 1, False), ("load", "y")),
            (("update", "add", "x", 1, False), ("load", "y")),
            (("store", "y", 1),),
        ),
        alike=True,
    ),
    "two groups": Shape(
        ((), (("load", "x"),), (("store", "x", 1),), (("load", "x"),), (("store", "x", 1),)), joined=4, alike=True
    ),
    "only some are waited for": Shape(
        ((), (("load", "x"),), (("load", "x"),), (("store", "x", 1),)), joined=1, alike=True
    ),
    "the process ends in the middle of waiting": Shape(
        (
            (),
            (("store", "y", 1), ("compare-exchange", "x", 1, 0)),
            (("store", "y", 1), ("compare-exchange", "x", 1, 0)),
            (("store", "y", 1), ("await", "compare-exchange", "y", 2, ("ult", 3)), ("exit",)),
        ),
        joined=3,
        alike=True,
    ),
    "one of them ends the process": Shape(((), (("choose", 3), ("exit",)), (("choose", 3), ("exit",))), alike=True),
    "a section that chooses": Shape(
        ((), (("section choose", "x"), ("load", "x")), (("section choose", "x"), ("load", "x"))), alike=True
    ),
    "blocks that are known to others": Shape(
        ((("use published",),), (("publish",), ("load", "x")), (("publish",), ("load", "x"))), alike=True
    ),
    "locks": Shape(
        ((), *[(("critical", "m", (("load", "x"), ("store", "x", 1))),)] * 3), joined=3, library=True, alike=True
    ),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", REGRESSIONS)
def test_regressions(name: str, seed: int) -> None:
    compare(REGRESSIONS[name], commute=True, seed=seed, data_races="warn")
    compare_orbits(REGRESSIONS[name], 5000, commute=True, seed=seed)


def test_reduction_is_as_large_as_it_can_be() -> None:
    """Eight threads that all do the same to one place: the only order that is left is that of their numbers."""
    shape = Shape(((), *[(("update", "exchange", "x", 1, True),)] * 7), alike=True)
    exploration = explore(lower(build(shape)), symmetry=True, commute=True, seed=0, races="ignore")
    assert exploration.progress()[:3] == (1, 0, 0)
    assert exploration.told_apart() == (5040, 0)


# ------------------------------------------------------------------------------------------------------------ graphs


def strong(operation: Operation) -> Operation:
    """The same with an order that synchronises."""
    match operation:
        case Load(order="relaxed"):
            return replace(operation, order="acquire")
        case Store(order="relaxed"):
            return replace(operation, order="release")
        case Update(order="relaxed" | "acquire" | "release"):
            return replace(operation, order="acq_rel")
        case CompareExchange(order=order) if order != "plain":
            return replace(operation, order="seq_cst" if order == "seq_cst" else "acq_rel", failure="acquire")
        case _:
            return operation


def alike_litmus(source: random.Random) -> Litmus:
    threads = list(random_litmus(source).threads)[:3]
    for _ in range(source.choice([1, 1, 2])):
        again = source.choice(threads)
        threads.insert(source.randrange(len(threads) + 1), again)
    return Litmus(tuple(threads[:4]))


def compare_graphs(code: _native.Code, memory: str) -> bool:
    """Whether there is something that is explored in fewer graphs."""

    def explore(symmetry: bool) -> _native.GraphExploration:
        search = _native.GraphExploration(
            code,
            memory=memory,
            symmetry=symmetry,
            races="warn",
            keep_going=True,
            instruction_limit=10_000,
            max_executions=1500,
        )
        search.run()
        return search

    every = explore(False)
    if not every.finished():
        return False
    some = explore(True)
    assert some.finished()
    assert some.race_count() == every.race_count()
    told_apart = some.told_apart()
    if memory == "c11" and every.race_count() > 0:
        return False  # reading does not synchronise there
    assert bugs(some) == bugs(every)
    if told_apart is None:
        assert some.progress()[:2] == every.progress()[:2]
        return False
    assert told_apart == every.progress()[:2]
    return some.progress()[:2] != every.progress()[:2]


def check_graphs(numbers: range) -> int:
    fewer = 0
    for number in numbers:
        source = random.Random(number)
        litmus = alike_litmus(source)
        synchronising = Litmus(tuple(tuple(map(strong, thread)) for thread in litmus.threads))
        shape = alike_shape(GENERATORS[number % 4], source, 3)
        for memory in (*MODELS, "shape"):
            try:
                if memory == "shape":
                    fewer += compare_graphs(lower(build(shape)).code, ("sc", "ra", "tso", "pso")[number // 4 % 4])
                else:
                    tested = synchronising if memory == "c11" else litmus
                    fewer += compare_graphs(lower(to_program(tested, alike=True)).code, memory)
            except AssertionError as error:
                raise AssertionError(f"program {number} under {memory}: {litmus}, {shape}") from error
    return fewer


@pytest.mark.parametrize("memory", ["sc", "tso", "pso", "ra"])
def test_stores_that_others_tear_are_in_several_orders(memory: str) -> None:
    compare_graphs(lower(build(Shape(((), *[(("store", "y", 2), ("byte load", "y"))] * 3), alike=True))).code, memory)


def test_one_graph_stands_for_those_with_other_names() -> None:
    assert check_graphs(range(60)) > 100


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
def test_one_graph_stands_for_those_with_other_names_in_many_programs(chunk: int) -> None:
    check_graphs(range(1000 * (chunk + 1), 1000 * (chunk + 2)))
