"""The explorers against the oracle, on random programs."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mazurka import _native
from mazurka.machine.lowering import Lowered, lower
from mazurka.program.builder import ProgramBuilder
from mazurka.program.types import I32
from tests.oracle.generator import (
    Shape,
    build,
    random_access_shape,
    random_await_shape,
    random_section_shape,
    random_shape,
    section_shapes,
    shapes,
)
from tests.oracle.oracle import Graph, Oracle, Outcome, TooLarge


def explore(
    lowered: Lowered, algorithm: str, *, commute: bool = True, seed: int = 0, jobs: int = 1, split: int = 0
) -> _native.Exploration:
    exploration = _native.Exploration(
        lowered.code,
        algorithm=algorithm,
        commute=commute,
        keep_going=True,
        keep_executions=True,
        instruction_limit=10_000,
        seed=seed,
        jobs=jobs,
        split=split,
    )
    exploration.run()
    assert exploration.finished()
    return exploration


def expected_counts(outcomes: list[Outcome]) -> tuple[int, int, int]:
    blocked = sum(outcome.status == "blocked" for outcome in outcomes)
    return len(outcomes) - blocked, blocked, 0


def bug_kinds(outcomes: list[Outcome]) -> set[str | None]:
    """What the first bug can be; None: there is none."""
    kinds: set[str | None] = {"deadlock" for outcome in outcomes if outcome.status == "deadlock"}
    failures = {outcome.failure for outcome in outcomes} - {None}
    kinds |= {failure if failure in ("deadlock", "livelock") else "failure" for failure in failures}
    return kinds or {None}


def bug_kind(exploration: _native.Exploration) -> str | None:
    bug = exploration.bug()
    return bug and bug[0]


def classes(oracle: Oracle, exploration: _native.Exploration) -> list[Graph]:
    """The equivalence classes of the executions that were explored, by replaying them."""
    names = exploration.thread_names()
    return [
        oracle.graph_of([(names[thread - 1], tuple(choices)) for thread, choices, _ in execution])
        for execution in exploration.executions()
    ]


def compare_with_oracle(lowered: Lowered, limit: int, *, commute: bool = True, seed: int = 0) -> bool:
    """Every explorer finds what the oracle finds, each class once. False: too large to tell."""
    oracle = Oracle(lowered, commute=commute)
    try:
        executions = list(oracle.interleavings(limit))
        exhaustive = explore(lowered, "exhaustive")
        outcomes = [outcome for _, outcome in executions]
        assert exhaustive.progress()[:3] == expected_counts(outcomes)
        assert bug_kind(exhaustive) in bug_kinds(outcomes)
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
        assert bug_kind(exploration) in bug_kinds(outcomes)
        found = classes(oracle, exploration)
        assert len(found) == len(traces)
        assert set(found) == traces.keys()
    return True


@settings(max_examples=300)
@given(shapes(), st.booleans(), st.integers(0, 3))
def test_explorers_agree_with_the_oracle(shape: Shape, commute: bool, seed: int) -> None:
    """Whichever thread goes first (`seed`)."""
    assume(compare_with_oracle(lower(build(shape)), limit=600, commute=commute, seed=seed))


@settings(max_examples=300)
@given(section_shapes(), st.booleans(), st.integers(0, 3))
def test_explorers_agree_with_the_oracle_on_sections(shape: Shape, commute: bool, seed: int) -> None:
    assume(compare_with_oracle(lower(build(shape)), limit=600, commute=commute, seed=seed))


@pytest.mark.parametrize("chunk", range(4))
@pytest.mark.parametrize("generator", [random_await_shape, random_section_shape])
def test_explorers_agree_with_the_oracle_on_random_programs(
    generator: Callable[[random.Random], Shape], chunk: int
) -> None:
    compare_random_programs(generator, range(50 * chunk, 50 * (chunk + 1)), limit=600)


GENERATORS = [random_shape, random_access_shape, random_await_shape, random_section_shape]


@pytest.mark.parametrize("generator", GENERATORS)
def test_explorers_agree_with_each_other(generator: Callable[[random.Random], Shape]) -> None:
    answered = compare_counts(generator, range(2000))
    # POP hands much over to the other one; what it hands over says nothing about it.
    assert answered > 200 or generator is random_await_shape


def compare_counts(generator: Callable[[random.Random], Shape], numbers: range) -> int:
    """Both explorers count the same, whichever thread goes first. That is quick; that the oracle counts the same takes
    longer. The result is how many programs POP has answered."""
    answered = 0
    for number in numbers:
        shape = generator(random.Random(number))
        code = lower(build(shape)).code
        counts = set()
        for algorithm, seed in (("optimal", 0), ("optimal", 1 + number % 3), ("pop", 0), ("pop", 1 + number % 3)):
            exploration = _native.Exploration(
                code, algorithm=algorithm, keep_going=True, max_executions=5000, instruction_limit=10_000, seed=seed
            )
            exploration.run()
            counts.add(exploration.progress()[:3] if exploration.finished() else None)
        answered += exploration.algorithm() == "pop"
        assert len(counts) == 1, f"program {number}: {shape}: {counts}"
    return answered


def compare_random_programs(random_shape: Callable[[random.Random], Shape], numbers: range, limit: int) -> None:
    for number in numbers:
        shape = random_shape(random.Random(number))
        try:
            compare_with_oracle(lower(build(shape)), limit, commute=number % 4 != 0, seed=number % 3)
        except AssertionError as error:
            raise AssertionError(f"program {number}: {shape}") from error


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
    "an await with two satisfying writes": Shape(((("store", "x", 1), ("store", "x", 0)), (("await load", "x", 0),))),
    "a subset of commuting updates enables an await": Shape(
        (
            (("update", "add", "x", 1, False),),
            (("update", "add", "x", 1, False),),
            (("update", "add", "x", 3, False),),
            (("await", "load", "x", 0, ("eq", 3)), ("store", "y", 1)),
        ),
    ),
    "an await that writes, after an update of its own": Shape(
        (
            (),
            (("update", "xor", "x", 1, False),),
            (("update", "xor", "x", 3, False), ("await", "exchange", "x", 1, ("sge", 2))),
        ),
    ),
    "two awaits, each after an update of its own": Shape(
        (
            (("update", "add", "x", 2, False), ("await", "load", "x", 2, ("eq", 3))),
            (("update", "add", "x", 2, False), ("await", "and", "x", 3, ("eq", 2))),
        ),
    ),
    "awaits that a compare-exchange disturbs": Shape(
        (
            (("await", "sub", "x", 3, ("mask", 3, "ne", 2)),),
            (("await", "compare-exchange", "x", 2, ("mask", 1, "ne", 1)),),
            (("update", "sub", "x", 3, True),),
            (("load", "x"),),
        ),
    ),
    "awaits on two variables beside commuting updates": Shape(
        (
            (("await", "load", "x", 2, ("or", ("mask", 1, "slt", 3), ("eq", 1))),),
            (("await", "load", "y", 3, ("ne", 3)),),
            (("update", "add", "x", 2, False), ("update", "add", "x", 0, False), ("load", "y")),
            (("update", "sub", "x", 2, False),),
            (("update", "sub", "y", 0, True),),
        ),
    ),
    "commuting updates and two readers": Shape(
        (
            (("load", "x"), ("update", "sub", "x", 2, True)),
            (("load", "x"),),
            (("update", "add", "x", 2, False),),
            (("update", "add", "x", 2, False),),
        ),
    ),
    "commuting updates of two kinds": Shape(
        (
            (("store", "x", 3),),
            (("update", "xor", "x", 1, False),),
            (("update", "xor", "x", 3, False),),
            (("update", "add", "x", 3, False),),
            (("update", "sub", "x", 0, False),),
        ),
    ),
    "commuting updates of two variables": Shape(
        (
            (("store", "x", 0),),
            (("load", "x"),),
            (("update", "or", "x", 1, False), ("update", "sub", "y", 0, False), ("update", "or", "x", 1, False)),
            (("update", "add", "y", 1, False),),
            (("update", "sub", "y", 0, True),),
        ),
    ),
    "a race that is redundant only where a thread stops": Shape(
        (
            (),
            (("store", "x", 1), ("load", "y"), ("assume last", 0)),
            (("store", "y", 1), ("load", "x"), ("assume last", 0), ("store", "z", 2)),
            (("store", "w", 1),),
            (("store", "z", 1), ("load", "w"), ("assume last", 0), ("load", "x")),
        ),
    ),
    "a thread that stops or goes on to write": Shape(
        (
            (),
            (("load", "x"),),
            (("store", "x", 0),),
            (("store", "y", 1), ("store", "y", 2)),
            (("load", "y"), ("assume last", 0), ("store", "x", 1)),
        ),
    ),
    "a guard that needs an event which is not ordered with the race": Shape(
        (
            (("load", "y"),),
            (("store", "x", 1),),
            (("atomic", (("guard", "await", "x", ("eq", 1)), ("store", "y", 1))),),
        ),
        library=True,
        together=True,
    ),
    "a guard that only reads, beside another reader": Shape(
        (
            (("store", "z", 2),),
            (("store", "z", 0),),
            (("atomic", (("guard", "await", "z", ("eq", 0)),)),),
            (("load", "z"),),
        ),
        library=True,
    ),
    "a section that begins to write, which others do not notice": Shape(
        (
            (),
            (("atomic", (("load", "y"), ("store", "x", 1))), ("load", "x")),
            (("atomic", ()), ("atomic", (("if loaded", "x", 0, (("store", "x", 0),), ()),))),
            (("store", "y", 1),),
        ),
        library=True,
        together=True,
    ),
    "sections that conflict at several places": Shape(
        (
            (("atomic", (("load", "x"), ("update", "xor", "y", 1, False), ("store", "y", 1))),),
            (("store", "x", 1), ("store", "y", 1)),
            (("atomic", (("store last", "x"), ("store", "z", 1))),),
            (("atomic", (("store", "z", 1), ("store", "y", 1))), ("load", "z")),
        ),
        library=True,
        together=True,
    ),
    "a section that meets its guard in one order of two": Shape(
        (
            (("atomic", (("if loaded", "x", 0, (("guard", "assume", "y", ("ugt", 1)),), ()),)),),
            (("update", "add", "y", 1, False),),
            (("store", "y", 2), ("store", "x", 2)),
            (("store", "y", 1),),
        ),
    ),
    "a section that is enabled where it does not conflict": Shape(
        (
            (("load", "x"), ("atomic", (("if loaded", "x", 1, (("guard", "await", "y", ("eq", 1)),), ()),))),
            (("atomic", (("update", "add", "y", 1, False),)),),
            (("update", "add", "x", 1, False),),
        ),
    ),
    "a commuting update and a guard on the same variable": Shape(
        (
            (),
            (("load", "y"), ("update", "add", "x", 1, False)),
            (
                (
                    "atomic",
                    (
                        ("if loaded", "y", 1, (("guard", "await", "x", ("plus", 1, "ne", 3)),), ()),
                        ("update", "add", "x", 2, False),
                    ),
                ),
            ),
            (("update", "add", "x", 2, False), ("update", "add", "y", 1, False)),
        ),
    ),
    "a section that touches other things where it finds other values": Shape(
        (
            (
                ("atomic", (("if loaded", "y", 0, (("store", "x", 1),), (("load", "x"),)),)),
                ("atomic", (("if loaded", "x", 0, (("store", "y", 0),), (("load", "y"),)),)),
            ),
            (("compare-exchange", "x", 0, 1),),
            (("store", "y", 0),),
        ),
    ),
    "an await that would write where it is disabled, but only reads where it is enabled": Shape(
        (
            (("update", "add", "x", 1, False),),
            (("await", "compare-exchange", "x", 3, ("slt", 1)),),
            (("load", "x"), ("update", "add", "x", 3, False)),
            (("load", "x"),),
        ),
    ),
    "a lock that is never released": Shape(((), (("lock", "m"),), (("lock", "m"),))),
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", REGRESSIONS)
def test_programs_that_were_once_explored_wrongly(name: str, seed: int) -> None:
    assert compare_with_oracle(lower(build(REGRESSIONS[name])), limit=5000, seed=seed)


@pytest.mark.parametrize("other_loop", [False, True])
def test_a_thread_that_can_go_round_another_loop_is_in_no_livelock(other_loop: bool) -> None:
    """It waits for `x`; while it goes round for the first time, but not later, it can read `y` again and again."""
    builder = ProgramBuilder()
    x, y = builder.variable("x"), builder.variable("y")
    with builder.function("waiter") as f:
        start = f.here
        f.block("head")
        round = f.phi(I32, (start, 0))
        with f.atomic(guarded=True):
            f.assume(f.eq(f.load(x), 1), "loop")
        f.branch(f.eq(round, 0), "inner", "tail")
        f.block("inner")
        f.load(y)
        f.branch(f.eq(f.choose(2), 0), "tail", "inner" if other_loop else "tail")
        f.block("tail")
        f.incoming(round, "tail", 1)
        f.jump("head")
    with builder.function("main") as f:
        f.spawn("waiter")
    assert bug_kind(explore(lower(builder.build()), "optimal")) == (None if other_loop else "livelock")


@pytest.mark.slow
@settings(max_examples=4000)
@given(st.one_of(shapes(), section_shapes()), st.booleans(), st.integers(0, 3))
def test_explorers_agree_with_the_oracle_on_many_programs(shape: Shape, commute: bool, seed: int) -> None:
    assume(compare_with_oracle(lower(build(shape)), limit=4000, commute=commute, seed=seed))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
def test_explorers_agree_with_the_oracle_on_twenty_thousand_programs(chunk: int) -> None:
    compare_random_programs(random_shape, range(1000 * chunk, 1000 * (chunk + 1)), limit=1500)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
@pytest.mark.parametrize("generator", GENERATORS)
def test_explorers_agree_with_each_other_on_a_hundred_thousand_programs(
    generator: Callable[[random.Random], Shape], chunk: int
) -> None:
    compare_counts(generator, range(10_000 * chunk, 10_000 * (chunk + 1)))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
@pytest.mark.parametrize("generator", [random_await_shape, random_section_shape])
def test_explorers_agree_with_the_oracle_on_ten_thousand_programs(
    generator: Callable[[random.Random], Shape], chunk: int
) -> None:
    compare_random_programs(generator, range(1000 * chunk, 1000 * (chunk + 1)), limit=1500)
