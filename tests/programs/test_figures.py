"""The programs of the figures in "Awaiting for Godot" (Jonsson, Lång, Sagonas), and the numbers that the text gives."""

from __future__ import annotations

import pytest

from mazurka import _native
from mazurka.machine.lowering import lower
from mazurka.program.builder import FunctionBuilder, ProgramBuilder
from mazurka.program.instructions import Assume, Instruction, Load, Register, Value
from mazurka.program.program import Program
from mazurka.program.types import I32
from mazurka.transforms import prepare
from tests.laws.test_exploration import classes, explore
from tests.oracle.oracle import Oracle


def spin(f: FunctionBuilder, address: Value, wanted: int) -> Register:
    """do a := x while (a ≠ wanted)"""
    with f.loop():
        value = f.load(address, ordering="seq_cst")
        with f.if_(f.eq(value, wanted)):
            f.break_()
    return value


def add_main(p: ProgramBuilder) -> FunctionBuilder:
    """The function that creates all threads."""
    threads = list(p.program.functions)
    f = p.function("main")
    for thread in threads:
        f.spawn(thread)
    return f


def count(prepared: Program, *, commute: bool = True) -> tuple[int, int]:
    """How many executions complete, and how many are blocked. The explorers and the oracle agree, class by class."""
    lowered = lower(prepared)
    oracle = Oracle(lowered, commute=commute)
    traces = oracle.traces()
    blocked = sum(outcome.status == "blocked" for outcome in traces.values())
    for algorithm in ("optimal", "pop"):
        exploration = explore(lowered, algorithm, commute=commute)
        assert exploration.progress()[:3] == (len(traces) - blocked, blocked, 0)
        assert set(classes(oracle, exploration)) == traces.keys()
    return len(traces) - blocked, blocked


def bug(prepared: Program) -> str | None:
    exploration = _native.Exploration(lower(prepared).code, algorithm="pop")
    exploration.run()
    found = exploration.bug()
    return found and found[0]


# ------------------------------------------------------------------------------------------------- Figure 1


def sorting_network(rounds: int) -> Program:
    """p sorts x[0] and x[1], q then x[1] and x[2], and in the second round p once more x[0] and x[1]."""
    p = ProgramBuilder()
    array, y = p.array("x", I32, [3, 2, 1]), p.variable("y")

    def sort(f: FunctionBuilder, left: int) -> None:
        first, second = f.element(array, left), f.element(array, left + 1)
        one, other = f.load(first), f.load(second)
        with f.if_(f.sgt(one, other)):
            f.store(first, other)
            f.store(second, one)

    with p.function("p") as f:
        sort(f, 0)
        f.store(y, 1, ordering="seq_cst")
        if rounds == 2:
            spin(f, y, 2)
            sort(f, 0)
            for left in range(2):
                f.check(f.sle(f.load(f.element(array, left)), f.load(f.element(array, left + 1))))
    with p.function("q") as f:
        spin(f, y, 1)
        sort(f, 1)
        if rounds == 2:
            f.store(y, 2, ordering="seq_cst")
    with add_main(p):
        pass
    return p.build()


@pytest.mark.parametrize("rounds", [1, 2])
def test_figure_1_a_sorting_network_has_one_execution(rounds: int) -> None:
    prepared = prepare(sorting_network(rounds))
    assert count(prepared) == (1, 0)
    assert bug(prepared) is None


def test_figure_1_with_assumes_each_spinloop_can_come_too_early() -> None:
    assert count(prepare(sorting_network(1), awaits=False)) == (1, 1)
    assert count(prepare(sorting_network(2), awaits=False)) == (1, 2)


# ------------------------------------------------------------------------------------------------- Figure 2


def spinloop() -> Program:
    p = ProgramBuilder()
    x, y = p.variable("x"), p.variable("y")
    with p.function("p") as f:
        spin(f, x, 1)
        f.check(f.eq(f.load(y), 42))
    with p.function("q") as f:
        f.store(y, 42)
        f.store(x, 1, ordering="seq_cst")
    with add_main(p):
        pass
    return p.build()


def test_figure_2a_the_loop_alone_has_one_execution_for_each_number_of_rounds() -> None:
    """The last of which is bounded: all n rounds came too early."""
    for rounds in range(1, 5):
        assert count(prepare(spinloop(), purity=False, awaits=False, unroll=rounds)) == (rounds, 1)


def test_figure_2b_the_assume_makes_two_executions() -> None:
    assert count(prepare(spinloop(), awaits=False)) == (1, 1)


def test_figure_2c_the_await_makes_one() -> None:
    assert count(prepare(spinloop())) == (1, 0)
    assert bug(prepare(spinloop())) is None


# ------------------------------------------------------------------------------------------------- Figure 3


def test_figure_3_two_writers_of_two_variables() -> None:
    """Four executions, for the four final values of x and y."""
    p = ProgramBuilder()
    x, y = p.variable("x"), p.variable("y")
    for name, value in (("p", 1), ("q", 2)):
        with p.function(name) as f:
            f.store(x, value)
            f.store(y, value)
    with p.function("main") as f:
        for thread in [f.spawn("p"), f.spawn("q")]:
            f.join(thread)
        difference = f.sub(f.load(x), f.load(y))
        f.check(f.and_(f.slt(difference, 2), f.sgt(difference, -2)), "|x - y| < 2")
    prepared = prepare(p.build())
    assert count(prepared) == (4, 0)
    assert bug(prepared) is None


# ------------------------------------------------------------------------------------------------- Figure 4


def test_figure_4_an_await_with_two_satisfying_writes() -> None:
    """One of which is the initial value."""
    p = ProgramBuilder()
    x, y = p.variable("x"), p.variable("y")
    with p.function("p") as f:
        f.store(x, 1, ordering="seq_cst")
        f.store(x, 0, ordering="seq_cst")
    with p.function("q") as f:
        spin(f, x, 0)
        f.store(y, 1)
    with add_main(p):
        pass
    prepared = prepare(p.build())
    assert count(prepared) == (2, 0)
    assert bug(prepared) is None


# ------------------------------------------------------------------------------------------------- Figure 5


def fetch_and_adds() -> Program:
    p = ProgramBuilder()
    x, y = p.variable("x"), p.variable("y")
    for name, value in (("p", 1), ("q", 1), ("r", 3)):
        with p.function(name) as f:
            f.update("add", x, value, used=False)
    with p.function("s") as f:
        spin(f, x, 3)
        f.store(y, 1)
    with add_main(p):
        pass
    return p.build()


def test_figure_5_the_await_is_enabled_by_one_of_three_commuting_updates() -> None:
    """In one execution r alone comes before s; in the other, s waits in vain."""
    assert count(prepare(fetch_and_adds())) == (1, 1)
    assert bug(prepare(fetch_and_adds())) == "livelock"


def test_figure_5_without_commuting_updates() -> None:
    """Six orders of the updates; s can follow where r is the first."""
    assert count(prepare(fetch_and_adds()), commute=False) == (2, 6)


# ------------------------------------------------------------------------------------------------- Figure 6


def partly_pure() -> Program:
    """The loop of p is pure if x > 4. If x = 4, it writes z."""
    p = ProgramBuilder()
    x, y, z = p.variable("x", I32, 5), p.variable("y"), p.variable("z")
    with p.function("p") as f, f.loop():
        a = f.load(x, ordering="seq_cst")
        f.load(y, ordering="seq_cst")
        with f.if_(f.eq(a, 4)):
            f.store(z, 42, ordering="seq_cst")
        with f.if_(f.slt(a, 4)):
            f.ret()
    with p.function("q") as f:
        f.store(x, 4, ordering="seq_cst")
        f.store(x, 3, ordering="seq_cst")
    with add_main(p):
        pass
    return p.build()


def test_figure_6_the_assume_follows_the_load_of_x() -> None:
    prepared = prepare(partly_pure(), awaits=False)
    kinds: list[type[Instruction]] = []
    for block in prepared.functions["p"].blocks.values():
        kinds += [type(i) for i in block.instructions if isinstance(i, Load | Assume)]
    assert kinds == [Load, Assume, Load]


def test_figure_6_only_iterations_that_write_remain() -> None:
    """p reads 4 no, one or two times before it reads 3, or (n + 1) times 4, where the bound stops it."""
    for rounds in range(1, 4):
        complete, blocked = count(prepare(partly_pure(), unroll=rounds))
        assert (complete, blocked) == (rounds, 1)
    # With assumes, it can read 5 as well, but that ends it.
    assert count(prepare(partly_pure(), awaits=False, unroll=2)) == (2, 2)
