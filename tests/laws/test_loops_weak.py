"""That what is done to loops under weak memory models changes nothing, on random programs whose loops wait.

The program with its loops as they are is bounded, and so is the transformed one: then both have the same outcomes,
failures and data races, since what remains of an execution when rounds are left out has no more rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from mazurka import _native
from mazurka.machine.layout import address_of
from mazurka.machine.lowering import Lowered, lower
from mazurka.program.program import Program
from mazurka.transforms import prepare
from tests.oracle.oracle import TooLarge
from tests.oracle.weak_loops import WeakShape, build, random_weak_shape, shrink

native: Any = _native  # (its stub need not know graphs)
MODELS = ["sc", "tso", "pso", "ra", "c11"]
MOST = 2000  # executions


@dataclass(frozen=True)
class Seen:
    """What can be seen of a program's executions: how those end in which all threads do (what they have found), where
    threads fail, and which threads race for what."""

    outcomes: frozenset[tuple[int, ...]]
    failures: frozenset[tuple[str, str]]
    races: frozenset[tuple[str, int, int]]


def explore(lowered: Lowered, model: str, most: int = MOST) -> Any:
    exploration = native.GraphExploration(
        lowered.code,
        memory=model,
        races="warn",
        keep_going=True,
        keep_executions=True,
        max_executions=most,
        instruction_limit=10_000,
    )
    exploration.run()
    if not exploration.finished():
        raise TooLarge
    return exploration


def look(program: Program, model: str, threads: int) -> Seen:
    lowered = lower(program)
    exploration = explore(lowered, model)
    names = exploration.thread_names()
    machine = native.Machine(lowered.code, thread_names=names)
    start = machine.mark()
    # Object 0 is null; functions and globals follow, as the machine lays them out.
    objects = [*lowered.functions, *lowered.globals]
    addresses = {name: address_of(0, number) for number, name in enumerate(objects, 1)}

    outcomes = set()
    for execution in exploration.executions():
        execution = [step for step in execution if step[0] != 0]  # what is in memory at the end does not matter here
        machine.rewind(start)
        assert machine.follow(execution, past_failures=True) == len(execution)
        results = (machine.read(addresses[f"result{number}"], 4) for number in range(threads + 1))
        found = tuple(int.from_bytes(result, "little") for result in results)
        if all(found[:threads]):
            outcomes.add(found)
    failures = set()
    for number in range(exploration.bug_count()):
        kind, thread, schedule, fault, _ = exploration.bug_at(number)
        if kind == "failure":
            machine.rewind(start)
            machine.follow(schedule, past_failures=True)
            failures.add((names[thread - 1], fault))
    races = set()
    for first, last, schedule in map(exploration.race, range(exploration.race_count())):
        machine.rewind(start)
        touched: list[set[str]] = []
        for thread, choices, reads in schedule[: last + 1]:
            # (The last one may wait: then it has read in vain.)
            accesses = machine.next(thread, choices, reads).accesses
            if len(touched) < last:
                machine.step(thread, choices, reads)
            places = [machine.describe(access.address) for access in accesses]
            touched.append({lowered.globals[at.index] if at.kind == "global" else at.kind for at in places})
        for name in touched[first] & touched[last]:
            races.add((name, *sorted((schedule[first][0], schedule[last][0]))))
    return Seen(frozenset(outcomes), frozenset(failures), frozenset(races))


def bound(shape: WeakShape) -> int:
    return 3 if "pause" in repr(shape) else 2


def check_bounded(shape: WeakShape) -> None:
    """What the original does in few rounds the transformed program does in no more, and nothing else."""
    rounds, threads = bound(shape), len(shape.threads)
    for model in MODELS[1:]:
        original = look(prepare(build(shape), purity=False, awaits=False, unroll=rounds), model, threads)
        transformed = look(prepare(build(shape), unroll=rounds, weak=True), model, threads)
        assert original.outcomes <= transformed.outcomes, f"{model}: not all outcomes"
        assert transformed.outcomes <= original.outcomes, f"{model}: an outcome that is none"
        assert original.failures <= transformed.failures, f"{model}: not all failures"
        assert transformed.failures <= original.failures, f"{model}: a failure that is none"
        assert original.races <= transformed.races, f"{model}: not all races"
        assert transformed.races <= original.races, f"{model}: a race that is none"


# -------------------------------------------------------------------------------------------------- livelocks


def has_livelock(program: Program, model: str, kind: str) -> bool:
    exploration = explore(lower(program), model)
    found = [exploration.bug_at(number) for number in range(exploration.bug_count())]
    return any(kind in (each[0], each[3]) for each in found)


def check_livelocks(shape: WeakShape) -> None:
    """A thread goes round for ever where it would if it saw what is newest, after a few rounds in which it may see
    anything."""
    for model in MODELS[1:]:
        expected = has_livelock(prepare(build(shape, gives_up=True), purity=False, awaits=False), model, "abort")
        found = has_livelock(prepare(build(shape), unroll=6, weak=True), model, "livelock")
        assert expected <= found, f"{model}: a livelock that is not found"
        assert found <= expected, f"{model}: a livelock that is none"


# In each of these, one particular mistake would show.
BREAK = (("break",),)
CASES = {
    "a fence in a back-off orders what is around it": WeakShape(
        (
            (
                ("store", "x", 1, "relaxed"),
                (
                    "loop",
                    (
                        ("if", ("ugt", "c", 1), (("yield",),), (("call fence",),)),
                        ("load", "a", "y", "relaxed"),
                        ("if", ("eq", "a", 0), BREAK, ()),
                    ),
                ),
            ),
            (("store", "y", 1, "relaxed"), ("fence", "seq_cst"), ("load", "c", "x", "relaxed")),
        )
    ),
    "what is read in vain is in a race with what depends on the end of the loop": WeakShape(
        (
            (
                (
                    "loop",
                    (
                        ("load", "a", "x", "relaxed"),
                        ("if", ("eq", "a", 1), BREAK, ()),
                        ("load", "b", "d", "plain"),
                        ("set", "b", 0),
                    ),
                ),
                ("store", "y", 1, "relaxed"),
            ),
            (("load", "a", "y", "relaxed"), ("if", ("eq", "a", 1), (("store", "d", 1, "plain"),), ())),
            (("store", "x", 1, "relaxed"),),
        )
    ),
    "several reads are not at one time": WeakShape(
        (
            (
                ("store", "x", 1, "release"),
                (
                    "loop",
                    (
                        ("load", "a", "x", "acquire"),
                        ("if", ("eq", "a", 0), BREAK, ()),
                        ("load", "b", "y", "acquire"),
                        ("if", ("eq", "b", 0), BREAK, ()),
                    ),
                ),
                ("set", "a", 0),
                ("set", "b", 0),
            ),
            (("store", "y", 1, "seq_cst"), ("load", "c", "x", "seq_cst")),
        )
    ),
    "others may see what was prepared in vain": WeakShape(
        (
            (
                ("new",),
                (
                    "loop",
                    (
                        ("load", "a", "x", "relaxed"),
                        ("prepare", "a", "relaxed"),
                        ("publish", "b", "relaxed", "relaxed"),
                        ("if", ("ne", "b", 0), BREAK, ()),
                    ),
                ),
            ),
            (("peek", "c", "relaxed", "relaxed"),),
            (
                ("new",),
                ("publish", "b", "relaxed", "relaxed"),
                ("store", "x", 1, "relaxed"),
                ("store", "x", 2, "relaxed"),
                ("withdraw", "relaxed"),
            ),
        )
    ),
    "a failed test-and-set passes on what it has read": WeakShape(
        (
            (("store", "d", 1, "plain"), ("store", "x", 1, "release"), ("store", "x", 0, "release")),
            (
                ("loop", (("update", "exchange", "a", "x", 1, "relaxed"), ("if", ("eq", "a", 0), BREAK, ()))),
                ("store", "x", 2, "relaxed"),
            ),
            (("load", "a", "x", "acquire"), ("if", ("ne", "a", 0), (("load", "b", "d", "plain"),), ())),
        )
    ),
}


def judged(check: Callable[[WeakShape], None], shape: WeakShape) -> bool | None:
    """Whether a program passes; None: it is too large to be looked at."""
    try:
        check(shape)
    except AssertionError:
        return False
    except TooLarge:
        return None
    return True


def try_programs(numbers: range) -> None:
    too_large = 0
    for number in numbers:
        shape = random_weak_shape(Random(number))
        passes = judged(check_bounded, shape)
        if passes is False:
            smallest = shrink(shape, lambda other: judged(check_bounded, other) is False)
            pytest.fail(f"program {number}: {smallest}")
        too_large += passes is None
    assert too_large < len(numbers) / 10, "hardly anything is tested"


def try_livelocks(numbers: range) -> None:
    for number in numbers:
        shape = random_weak_shape(Random(number), only_waits=True)
        assert judged(check_livelocks, shape) is not False, f"program {number}: {shape}"


def test_transformed_programs_do_the_same() -> None:
    try_programs(range(300))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
def test_twenty_thousand_transformed_programs_do_the_same(chunk: int) -> None:
    try_programs(range(1000 * chunk, 1000 * (chunk + 1)))


def test_livelocks_are_found() -> None:
    try_livelocks(range(60))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(5))
def test_more_livelocks_are_found(chunk: int) -> None:
    try_livelocks(range(1000 * chunk, 1000 * (chunk + 1)))


def test_loops_that_wait_need_no_bound() -> None:
    for number in range(60):
        lowered = lower(prepare(build(random_weak_shape(Random(number), only_waits=True)), weak=True))
        for model in MODELS[1:]:
            assert explore(lowered, model).beyond() == 0


@pytest.mark.parametrize("name", CASES)
def test_cases_that_are_easily_got_wrong(name: str) -> None:
    check_bounded(CASES[name])


@pytest.mark.parametrize("joins", [False, True])
def test_what_waits_may_race(joins: bool) -> None:
    """With what is not atomic, also if it waits for something else: for ever, or until something that synchronises."""
    wait = ("loop", (("load", "a", "x", "acquire"), ("if", ("eq", "a", 2), (("break",),), ())))
    check_bounded(WeakShape(((wait,), (("store", "x", 1, "plain"),)), joins))
    relay = (("store", "x", 1, "plain"), ("store", "x", 2, "release"))
    check_bounded(WeakShape(((wait,), relay), joins))
