"""The data races and livelocks that the stateful search finds, against oracles that share nothing with it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable

import pytest
from hypothesis import assume, given, settings

from mazurka import _native
from mazurka.machine.lowering import Lowered, lower
from mazurka.program.program import Program
from mazurka.transforms import prepare
from tests.oracle import generator, loop_generator, state_generator
from tests.oracle.livelocks import bug_kinds, visit
from tests.oracle.oracle import TooLarge
from tests.oracle.races import Races, Site
from tests.oracle.state_generator import StateShape, random_state_shape, state_shapes

REDUCTIONS = ("cpc", "cycle-detection", "none")
MANY = 20_000  # states

Pair = tuple[Site, Site]


def ready(program: Program) -> Program:
    return prepare(program, purity=False, awaits=False)


def search(
    lowered: Lowered,
    reduction: str,
    *,
    races: str = "ignore",
    livelocks: bool = False,
    keep_going: bool = True,
    max_states: int = MANY,
) -> _native.StateSearch:
    found = _native.StateSearch(
        lowered.code,
        reduction=reduction,
        races=races,
        livelocks=livelocks,
        keep_going=keep_going,
        max_states=max_states,
        instruction_limit=10_000,
    )
    found.run()
    return found


# --------------------------------------------------------------------------------------------- data races


def pairs_found(lowered: Lowered, found: _native.StateSearch) -> set[Pair]:
    """Where the two steps are that race, by replaying what the search says: one right after the other."""
    pairs = set()
    for first, second, schedule in map(found.race, range(found.race_count())):
        machine = _native.Machine(lowered.code, thread_names=found.thread_names(), pause_after=10_000)
        sites: list[Site] = []
        for thread, choices, _ in schedule:
            sites.append(tuple(machine.frames(thread)[:2]))
            if machine.next(thread, choices).enabled:  # one of the two may be an access that waits
                machine.step(thread, choices)
        assert (first, second) == (len(sites) - 2, len(sites) - 1)
        one, other = sites[-2:]
        pairs.add((min(one, other), max(one, other)))
    return pairs


def compare_races(program: Program, *, weak: bool, limit: int = 200) -> Counter[str]:
    """Every race that is found is one, whatever the reduction. Where all orders are seq_cst, one is found if there is
    any, or the search says that it may have missed some. (Those that come about only after another one need not be
    found.)"""
    lowered = lower(program)
    expected = {(min(one.site, other.site), max(one.site, other.site)) for one, other in Races(program).find(limit)}
    counts = Counter(programs=1, racy=bool(expected), found=0)
    for reduction in REDUCTIONS:
        found = search(lowered, reduction, races="warn")
        if not found.finished():
            continue
        pairs = pairs_found(lowered, found)
        assert pairs <= expected, (reduction, pairs - expected)
        # (Nothing comes after a failure here.)
        if not weak and not any(kind == "failure" for kind, _ in found.bugs()):
            assert bool(pairs) == bool(expected) or found.may_miss_races(), (reduction, expected)
            counts["missed"] += bool(expected) and not pairs
            counts["in doubt"] += found.may_miss_races()
        counts["found"] += bool(pairs)
        first = search(lowered, reduction, races="error", keep_going=False)
        assert (first.bug() is not None) == bool(found.bug() or pairs)
    return counts


def endless(source: random.Random) -> Program:
    return ready(state_generator.build(random_state_shape(source)))


def loops(source: random.Random) -> Program:
    return ready(loop_generator.build(loop_generator.random_loop_shape(source)))


def short(source: random.Random) -> Program:
    return ready(generator.build(generator.random_shape(source)))


def with_orders(source: random.Random) -> Program:
    return ready(generator.build(generator.random_order_shape(source)))


def compare_random_races(make: Callable[[random.Random], Program], numbers: Iterable[int]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for number in numbers:
        try:
            counts += compare_races(make(random.Random(number)), weak=make is with_orders)
        except TooLarge:
            continue
        except AssertionError as error:
            raise AssertionError(f"{make.__name__}(random.Random({number}))") from error
    return counts


MAKERS = [endless, loops, short, with_orders]


@pytest.mark.parametrize("make", MAKERS)
def test_races_are_found_where_there_are_any(make: Callable[[random.Random], Program]) -> None:
    counts = compare_random_races(make, range(60))
    assert 5 < counts["racy"] < counts["programs"]
    assert counts["in doubt"] < counts["programs"] / 10


def test_a_race_that_is_never_side_by_side_leaves_a_doubt() -> None:
    """A section that could only be entered before another thread, which then makes the other access, has written."""
    counts = compare_random_races(short, [6631])
    assert counts["missed"] == counts["in doubt"] == len(REDUCTIONS)


@settings(max_examples=60)
@given(state_shapes())
def test_races_of_programs_that_run_for_ever(shape: StateShape) -> None:
    try:
        compare_races(ready(state_generator.build(shape)), weak=False)
    except TooLarge:
        assume(False)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
@pytest.mark.parametrize("make", MAKERS)
def test_races_are_found_in_many_programs(make: Callable[[random.Random], Program], chunk: int) -> None:
    compare_random_races(make, range(1000 * chunk, 1000 * (chunk + 1)))


# ---------------------------------------------------------------------------------------------- livelocks


def kinds_found(lowered: Lowered, reduction: str) -> set[str] | None:
    found = search(lowered, reduction, livelocks=True)
    return {kind for kind, _ in found.bugs()} if found.finished() else None


def compare_livelocks(program: Program) -> set[str]:
    """What can go wrong, which is found, whatever the reduction."""
    kinds = bug_kinds(visit(program))
    lowered = lower(program)
    for reduction in REDUCTIONS:
        found = kinds_found(lowered, reduction)
        # Nothing comes after a failure here: what else can go wrong in that execution is not looked at.
        if found is not None:
            assert found <= kinds and bool(found) == bool(kinds), (reduction, found, kinds)
            assert found == kinds or "failure" in kinds, (reduction, found, kinds)
    return kinds


def compare_random_livelocks(numbers: Iterable[int]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for number in numbers:
        try:
            kinds = compare_livelocks(loops(random.Random(number)))
        except TooLarge:
            continue
        except AssertionError as error:
            raise AssertionError(f"loops(random.Random({number}))") from error
        counts[" and ".join(sorted(kinds)) or "nothing"] += 1
    return counts


def test_livelocks_are_found_where_there_are_any() -> None:
    counts = compare_random_livelocks(range(150))
    assert counts["livelock"] > 15 and counts["nothing"] > 15


@pytest.mark.parametrize(
    ("number", "kinds"),
    [
        (5061, {"livelock"}),  # takes from a counter, puts it back, waits
        (149, {"livelock"}),  # two that take and put back, and never wait
        (3504, {"livelock"}),  # a loop that goes round by two edges
        (4936, set()),  # a counter that grows until it wraps around
    ],
)
def test_livelocks_that_were_judged_wrongly(number: int, kinds: set[str]) -> None:
    assert compare_livelocks(loops(random.Random(number))) == kinds


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_livelocks_are_found_in_many_programs(chunk: int) -> None:
    compare_random_livelocks(range(1000 * chunk, 1000 * (chunk + 1)))


def agree_about_livelocks(numbers: Iterable[int]) -> int:
    """All reductions find livelocks in the same programs that run for ever, or none."""
    total = 0
    for number in numbers:
        lowered = lower(endless(random.Random(number)))
        kinds = kinds_found(lowered, "none")
        if kinds is not None:
            total += "livelock" in kinds
            for reduction in REDUCTIONS:
                assert kinds_found(lowered, reduction) == kinds, f"{reduction}: endless(random.Random({number}))"
    return total


def test_reductions_lose_no_livelock() -> None:
    assert agree_about_livelocks(range(300)) > 5


@pytest.mark.slow
def test_reductions_lose_no_livelock_in_many_programs() -> None:
    agree_about_livelocks(range(1000, 20_000))
