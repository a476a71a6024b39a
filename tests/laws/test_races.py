"""The detector of data races against the oracle: exactly the same pairs of places, whatever the algorithm."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import cast

import pytest

from mazurka import _native
from mazurka.machine.lowering import Lowered, lower
from mazurka.program import instructions as ins
from mazurka.program.program import Program
from mazurka.transforms import prepare
from mazurka.transforms.atomic_sections import blocks_in_atomic_sections
from tests.oracle import loop_generator
from tests.oracle.generator import (
    FAILURE_ORDERS,
    FENCE_ORDERS,
    LOAD_ORDERS,
    STORE_ORDERS,
    UPDATE_ORDERS,
    Shape,
    build,
    random_access_shape,
    random_await_shape,
    random_fence_shape,
    random_order_shape,
    random_section_shape,
    random_shape,
)
from tests.oracle.livelocks import is_finite, visit
from tests.oracle.oracle import TooLarge
from tests.oracle.races import Races, Site

Pair = tuple[Site, Site]
Lines = frozenset[int]

# Who might see something else: the algorithm, whether updates commute, and which thread goes first.
WAYS = [("pop", True, 0), ("pop", False, 1), ("optimal", True, 2), ("exhaustive", True, 0)]


def expected(program: Program, limit: int) -> set[Pair]:
    return {pair(first.site, second.site) for first, second in Races(program).find(limit)}


def found(lowered: Lowered, algorithm: str, commute: bool, seed: int) -> set[Pair]:
    """The pairs that an explorer reports, by replaying what it says."""
    exploration = _native.Exploration(
        lowered.code,
        algorithm=algorithm,
        commute=commute,
        seed=seed,
        races="warn",
        keep_going=True,
        max_executions=2000,
        instruction_limit=10_000,
    )
    exploration.run()
    if not exploration.finished():
        raise TooLarge
    pairs = set()
    for first, second, schedule in map(exploration.race, range(exploration.race_count())):
        machine = _native.Machine(lowered.code, thread_names=exploration.thread_names())
        sites: list[Site] = []
        for thread, choices, _ in schedule:
            sites.append(tuple(machine.frames(thread)[:2]))
            if machine.next(thread, choices).enabled:  # one of the two may be an access that waits
                machine.step(thread, choices)
        assert second == len(sites) - 1
        pairs.add(pair(sites[first], sites[second]))
    return pairs


def pair(one: Site, other: Site) -> Pair:
    return min(one, other), max(one, other)


def compare(program: Program, limit: int = 4000) -> int:
    """How many races there are."""
    wanted, lowered = expected(program, limit), lower(program)
    for way in WAYS:
        try:
            assert found(lowered, *way) == wanted, way
        except TooLarge:
            continue  # as most programs are for `exhaustive`
    return len(wanted)


def compare_random_programs(generator: Callable[[random.Random], Shape], numbers: range) -> int:
    races = 0
    for number in numbers:
        shape = generator(random.Random(number))
        try:
            races += compare(build(shape))
        except TooLarge:
            continue
        except AssertionError as error:
            raise AssertionError(f"program {number}: {shape}") from error
    return races


GENERATORS = [
    random_order_shape,
    random_fence_shape,
    random_shape,
    random_await_shape,
    random_section_shape,
    random_access_shape,
]


@pytest.mark.parametrize("generator", GENERATORS)
def test_the_detector_finds_what_the_oracle_finds(generator: Callable[[random.Random], Shape]) -> None:
    count = 100 if generator in (random_order_shape, random_fence_shape) else 15
    assert compare_random_programs(generator, range(count)) >= count // 2


# Each of these was judged wrongly once.
CASES = {
    # Whoever adds last knows of what came before: but who that is makes no other difference.
    "updates that commute, and synchronise in one order only": (
        Shape(
            (
                (),
                (
                    ("ordered", "store", "plain", "x", 1),
                    ("ordered", "store", "relaxed", "z", 1),
                    ("ordered", "quiet add", "seq_cst", "w", 1),
                ),
                (
                    ("ordered", "quiet add", "seq_cst", "w", 1),
                    ("await ordered", "load", "relaxed", "z", 0, ("ne", 0)),
                    ("ordered", "load", "plain", "x", 0),
                ),
            )
        ),
        1,
    ),
    "an atomic write hides a plain one before it, which races": (
        Shape(
            (
                (),
                (
                    ("ordered", "store", "plain", "x", 1),
                    ("ordered", "store", "relaxed", "x", 2),
                    ("ordered", "store", "relaxed", "z", 1),
                ),
                (
                    ("await ordered", "load", "relaxed", "z", 0, ("ne", 0)),
                    ("ordered", "load", "relaxed", "x", 0),
                ),
            )
        ),
        1,
    ),
    "three plain writes in an order that nothing but relaxed flags gives them": (
        Shape(
            (
                (),
                (("ordered", "store", "plain", "x", 1), ("ordered", "store", "relaxed", "z", 1)),
                (
                    ("await ordered", "load", "relaxed", "z", 0, ("eq", 1)),
                    ("ordered", "store", "plain", "x", 2),
                    ("ordered", "store", "relaxed", "z", 2),
                ),
                (
                    ("await ordered", "load", "relaxed", "z", 0, ("eq", 2)),
                    ("ordered", "store", "plain", "x", 3),
                ),
            )
        ),
        3,
    ),
    # It knows of the first write before it can come to wait.
    "a wait that was never in vain": (
        Shape(
            (
                (),
                (
                    ("ordered", "store", "plain", "x", 1),
                    ("ordered", "store", "release", "x", 2),
                    ("ordered", "store", "relaxed", "z", 1),
                ),
                (
                    ("await ordered", "load", "relaxed", "z", 0, ("ne", 0)),
                    ("await ordered", "load", "acquire", "x", 0, ("ne", 1)),
                ),
            )
        ),
        0,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_programs_that_were_once_judged_wrongly(name: str) -> None:
    shape, races = CASES[name]
    assert compare(build(shape)) == races


# ----------------------------------------------------------------------------------------------------------- loops


def lines(lowered: Lowered, pairs: set[Pair]) -> set[Lines]:
    """The statements that race: code positions change when loops are transformed, lines do not."""

    def line(site: Site) -> int:
        location = lowered.origin[site[0]][1].location
        assert location
        return location.line

    return {frozenset((line(one), line(other))) for one, other in pairs}


def loops(number: int) -> Program:
    return loop_generator.build(loop_generator.random_loop_shape(random.Random(number)))


def weak_loops(number: int) -> Program:
    """The same with weaker orders, and with fences here and there."""
    source, program = random.Random(number), loops(number)
    orders = {ins.Load: LOAD_ORDERS, ins.Store: STORE_ORDERS}
    sections = blocks_in_atomic_sections(program)
    for function in program.functions.values():
        for block in function.blocks.values():
            if (function.name, block.name) in sections:
                continue
            for instruction in list(block.instructions):
                if isinstance(instruction, ins.AtomicBegin):
                    break
                if not isinstance(instruction, ins.MemoryAccess) or instruction.ordering == "plain":
                    continue
                instruction.ordering = cast(ins.Ordering, source.choice(orders.get(type(instruction), UPDATE_ORDERS)))
                if isinstance(instruction, ins.CompareExchange):
                    instruction.failure = cast(ins.Ordering, source.choice(FAILURE_ORDERS))
                for after in (0, 1):
                    if source.random() < 0.2:
                        fence = ins.Fence(cast(ins.Ordering, source.choice(FENCE_ORDERS)))
                        block.instructions.insert(block.instructions.index(instruction) + after, fence)
    return program


def compare_loops(numbers: range, program: Callable[[int], Program] = loops) -> int:
    """What transformed programs show in few executions is what the loops of the original show in all their rounds."""
    races = 0
    for number in numbers:
        original = prepare(program(number), purity=False, awaits=False)
        try:
            wanted = lines(lower(original), expected(original, 4000))
            races += len(wanted)
            for awaits in (False, True):
                transformed = prepare(program(number), awaits=awaits)
                if not is_finite(visit(transformed)):
                    continue
                lowered = lower(transformed)
                assert lines(lowered, found(lowered, "pop", True, 0)) == wanted, f"program {number}"
        except TooLarge:
            continue
    return races


def test_waits_race_as_their_loops_do() -> None:
    assert compare_loops(range(50)) > 10


def test_fences_and_weak_orders_in_loops_that_wait() -> None:
    assert compare_loops(range(25), weak_loops) > 10


# ----------------------------------------------------------------------------------------------------------- many more


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
@pytest.mark.parametrize("generator", GENERATORS)
def test_the_detector_finds_what_the_oracle_finds_in_many_programs(
    generator: Callable[[random.Random], Shape], chunk: int
) -> None:
    compare_random_programs(generator, range(200 * chunk, 200 * (chunk + 1)))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
@pytest.mark.parametrize("program", [loops, weak_loops])
def test_waits_race_as_their_loops_do_in_many_programs(program: Callable[[int], Program], chunk: int) -> None:
    compare_loops(range(100 * chunk, 100 * (chunk + 1)), program)
