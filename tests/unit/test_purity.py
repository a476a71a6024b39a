"""Which iterations of loops are found to be pure, and where the assume goes that stops them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from mazurka import Verdict, check
from mazurka._native import Exploration
from mazurka.frontends.c import load_c_program
from mazurka.machine.lowering import lower
from mazurka.program.builder import FunctionBuilder, ProgramBuilder
from mazurka.program.instructions import Assume, BinaryOp, Constant, GlobalAddress, Predicate, Register
from mazurka.program.printer import format_function
from mazurka.program.program import Program
from mazurka.program.types import I1, I8, I32, I64, PTR, Int
from mazurka.program.validate import validate
from mazurka.transforms import promote
from mazurka.transforms.loops.conditions import FALSE, TRUE, Operation, ValueSet, conjoin, equal, holds, satisfying
from mazurka.transforms.loops.iterations import MAX_DISJUNCTS
from mazurka.transforms.loops.purity import LoopReport, eliminate_pure_iterations

Body = Callable[[FunctionBuilder, GlobalAddress, GlobalAddress, GlobalAddress], None]


def transformed(build: Body) -> tuple[Program, list[LoopReport]]:
    """A program whose function `f` is built on three shared variables, after the transformation."""
    p = ProgramBuilder()
    x, y, z = (p.variable(name) for name in "xyz")
    with p.function("main"):
        pass
    with p.function("f", I32) as f:
        f.at("f.c", 1)
        build(f, x, y, z)
    program = p.build()
    for function in program.functions.values():
        promote(function)
    reports = eliminate_pure_iterations(program)
    validate(program)
    return program, reports


def body(build: Body) -> str:
    """The code of `f`, without locations."""
    program, _ = transformed(build)
    lines = format_function(program.functions["f"]).splitlines()
    return "\n".join(line.partition("  ;")[0].rstrip() for line in lines[1:-1]) + "\n"


def conditions(build: Body) -> list[str]:
    """Under which conditions the only loop of `f` is pure, or why it is not."""
    _, reports = transformed(build)
    assert len(reports) == 1
    return [condition.text for condition in reports[0].conditions] or [str(reports[0].obstacle)]


def read(f: FunctionBuilder, address: GlobalAddress | Register) -> Register:
    return f.load(address, ordering="seq_cst")


def write(f: FunctionBuilder, address: GlobalAddress | Register, value: int | Register) -> None:
    f.store(address, value, ordering="seq_cst")


# ----------------------------------------------------------------------------------- the examples of the paper


def test_a_spin_loop_stops_right_after_its_load() -> None:
    def figure_2(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        with f.loop(), f.if_(f.eq(read(f, x), 1)):
            f.break_()
        read(f, y)

    assert (
        body(figure_2)
        == """entry:
    jump loop.1
loop.1:
    %2 = load i32 @x, seq_cst
    %3 = eq i32 %2, 1
    assume %3, loop
    %4 = eq i32 %2, 1
    branch %4, then.3, end.4
then.3:
    jump end.2
end.4:
    jump loop.1
end.2:
    %5 = load i32 @y, seq_cst
    return
"""
    )
    assert conditions(figure_2) == ["x != 1"]


def figure_6(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
    with f.loop():
        a = read(f, x)
        read(f, y)
        with f.if_(f.eq(a, 4)):
            write(f, z, 42)
        with f.if_(f.slt(a, 4)):
            f.break_()


def test_a_loop_that_sometimes_writes_stops_as_soon_as_it_is_known_not_to() -> None:
    code = body(figure_6)
    start = code.index("loop.1:\n") + len("loop.1:\n")
    assert code[start:].startswith(
        """    %2 = load i32 @x, seq_cst
    %3 = sle i32 %2, 4
    assume %3, loop
    %4 = load i32 @y, seq_cst
"""
    )
    assert conditions(figure_6) == ["x > 4"]


def test_peterson_waits_for_two_variables() -> None:
    def peterson(f: FunctionBuilder, flag: GlobalAddress, turn: GlobalAddress, z: GlobalAddress) -> None:
        with f.loop():
            with f.if_(f.eq(read(f, flag), 0)):
                f.break_()
            with f.if_(f.ne(read(f, turn), 1)):
                f.break_()

    # That the flag is set need not be said again where that is known.
    assert "assume" not in body(peterson).partition("end.4:")[0]
    assert """end.4:
    %4 = load i32 @y, seq_cst
    %5 = ne i32 %4, 1
    assume %5, loop
""" in body(peterson)
    assert conditions(peterson) == ["x != 0 and y == 1"]


def test_test_and_test_and_set() -> None:
    def ttas(f: FunctionBuilder, lock: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        with f.loop():
            with f.while_(lambda: f.ne(read(f, lock), 0)):
                pass
            with f.if_(f.eq(f.update("exchange", lock, 1), 0)):
                f.break_()

    _, reports = transformed(ttas)
    assert [[condition.text for condition in report.conditions] for report in reports] == [
        ["x == 0 and x == 1"],
        ["x != 0"],
    ]
    # The outer loop has done something if the inner one has gone round; but that is always stopped.
    assert """    %5 = update exchange @x, i32 1, seq_cst
    %6 = ne i32 %5, 1
    assume %6, loop
""" in body(ttas)


# ------------------------------------------------------------------------------------ when nothing is changed


@pytest.mark.parametrize(
    ("spin", "pure"),
    [
        (lambda f, x: f.ne(f.update("exchange", x, 1), 0), ["x == 1"]),
        (lambda f, x: f.not_(f.compare_exchange(x, 0, 1)[1]), ["x != 0"]),
        (lambda f, x: f.ne(f.compare_exchange(x, 0, 0)[0], 5), ["x != 5"]),
        (lambda f, x: f.ne(f.compare_exchange(x, 1, 2)[0], 2), ["x != 1 and x != 2"]),
        (lambda f, x: f.ne(f.update("add", x, 0), 3), ["x != 3"]),
        (lambda f, x: f.ne(f.update("sub", x, f.parameters[0]), 3), ["a value == 0 and x != 3"]),
        (lambda f, x: f.ne(f.and_(f.update("or", x, 4), 4), 0), ["(x & 4) == 4"]),
        (lambda f, x: f.eq(f.update("and", x, -5), 1), ["x == 1 and (x & 4) == 0"]),
        (lambda f, x: f.sgt(f.update("max", x, 7), 2), ["x > 6"]),
        (lambda f, x: f.eq(f.update("umin", x, 7), 7), ["x == 7"]),
        (lambda f, x: f.eq(f.update("nand", x, 1), 7), ["x == 7 and (x & 1) ^ -1 == x"]),
        (lambda f, x: f.ne(f.update("add", x, 1), 3), ["writes x (f.c:1)"]),
    ],
)  # fmt: skip
def test_each_atomic_operation_has_its_own_condition(
    spin: Callable[[FunctionBuilder, GlobalAddress], Register], pure: list[str]
) -> None:
    def loop(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        with f.while_(lambda: spin(f, x)):
            pass

    assert conditions(loop) == pure


def test_updates_that_commute_keep_doing_so() -> None:
    def loop(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        with f.while_(lambda: f.ne(read(f, x), 0)):
            f.update("or", y, f.parameters[0], used=False)
            f.update("exchange", z, 1, used=False)

    assert conditions(loop) == ["a value == 0 and x != 0 and z == 1"]
    assert "    update or @y, i32 %1, seq_cst\n" in body(loop)
    assert "    %old = update exchange @z, i32 1, seq_cst\n" in body(loop)


@pytest.mark.parametrize(
    ("act", "obstacle"),
    [
        (lambda f, x: write(f, x, 1), "writes x (f.c:7)"),
        (lambda f, x: f.call("main"), None),
        (lambda f, x: f.spawn("main"), "starts a thread (f.c:7)"),
        (lambda f, x: f.malloc(4), "makes a new object (f.c:7)"),
        (lambda f, x: f.free(0), "frees memory (f.c:7)"),
        (lambda f, x: f.print("!"), "prints (f.c:7)"),
        (lambda f, x: f.lock(x), "writes x (f.c:7)"),
    ],
)  # fmt: skip
def test_effects_stand_in_the_way(act: Callable[[FunctionBuilder, GlobalAddress], None], obstacle: str | None) -> None:
    def loop(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        with f.while_(lambda: f.ne(read(f, z), 0)):
            f.at("f.c", 7)
            act(f, x)
            f.at("f.c", 8)

    assert conditions(loop) == [obstacle or "z != 0"]


# ------------------------------------------------------------------------------------------------ local variables


def test_a_variable_that_changes_makes_an_iteration_impure() -> None:
    def count(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        i = f.local("i", I32, 0)
        with f.while_(lambda: f.slt(f.load(i), read(f, x))):
            f.store(i, f.add(f.load(i), 1))

    assert conditions(count) == ["changes i from one round to the next (f.c:1)"]


def test_a_variable_may_change_on_some_paths_only() -> None:
    def loop(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        i = f.local("i", I32, 0)
        with f.while_(lambda: f.slt(f.load(i), 10)), f.if_(f.ne(read(f, x), 0)):
            f.store(i, f.add(f.load(i), 1))

    assert conditions(loop) == ["i <= 9 and x == 0"]


def test_a_variable_may_get_the_value_that_it_has() -> None:
    def loop(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        seen = f.local("seen", I32, 0)
        with f.while_(lambda: f.slt(f.load(seen), 10)):
            f.store(seen, read(f, x))

    assert conditions(loop) == ["seen <= 9 and x == seen"]
    assert "    %3 = load i32 @x, seq_cst\n    %4 = ne i32 %3, %seen\n    assume %4, loop\n" in body(loop)


def test_a_variable_that_is_set_again_in_each_iteration_does_not_count() -> None:
    def loop(f: FunctionBuilder, lock: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        expected = f.local("expected", I32, 0)
        with f.loop():
            old, success = f.compare_exchange(lock, f.load(expected), 1)
            with f.if_(success):
                f.break_()
            f.store(expected, old)
            f.store(expected, 0)

    assert conditions(loop) == ["x != 0"]


@pytest.mark.parametrize("op", ["mul", "sdiv", "add"])
def test_nobody_asks_when_a_step_makes_no_difference(op: BinaryOp) -> None:
    def loop(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        i = f.local("i", I32, f.parameters[0])
        with f.while_(lambda: f.slt(f.load(i), read(f, x))):
            f.store(i, f.binary(op, f.load(i), 2))

    assert conditions(loop) == ["changes i from one round to the next (f.c:1)"]


def test_a_failed_compare_exchange_that_updates_what_is_expected_need_not_fail_again() -> None:
    def loop(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        expected = f.local("expected", I32, 0)
        with f.loop():
            old, success = f.compare_exchange(x, f.load(expected), f.add(f.load(expected), 1))
            with f.if_(success):
                f.break_()
            f.store(expected, old)

    assert conditions(loop) == ["x != expected in a round after another one"]


def increment(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
    """The usual way to use a compare-exchange."""
    expected = f.local("expected", I32, read(f, x))
    with f.loop():
        with f.if_(f.eq(f.load(expected), 9)):
            f.break_()
        old, success = f.compare_exchange(x, f.load(expected), f.add(f.load(expected), 1))
        with f.if_(f.not_(success)):
            f.store(expected, old)
        with f.if_(success):
            f.break_()


def test_a_round_that_only_reads_again_what_was_read_before_the_loop_is_as_good_as_pure() -> None:
    assert conditions(increment) == ["expected != 9 and x != expected"]
    code = body(increment)
    assert "%again" not in code  # the first round never returns
    assert (
        """    %5, %6 = compare_exchange @x, i32 %expected, %4, seq_cst
    %7 = eq i32 %5, %expected
    assume %7, loop
"""
        in code
    )


def test_the_read_before_the_loop_must_be_good_for_nothing_else() -> None:
    def something_between(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        expected = f.local("expected", I32, read(f, x))
        read(f, y)
        with f.loop():
            old, success = f.compare_exchange(x, f.load(expected), 1)
            with f.if_(success):
                f.break_()
            f.store(expected, old)

    def used_afterwards(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        first = read(f, x)
        expected = f.local("expected", I32, first)
        with f.loop():
            old, success = f.compare_exchange(x, f.load(expected), 1)
            with f.if_(success):
                f.break_()
            f.store(expected, old)
        write(f, y, first)

    def another_variable(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        expected = f.local("expected", I32, read(f, y))
        with f.loop():
            old, success = f.compare_exchange(x, f.load(expected), 1)
            with f.if_(success):
                f.break_()
            f.store(expected, old)

    def weaker(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        expected = f.local("expected", I32, read(f, x))
        with f.loop():
            old, success = f.compare_exchange(x, f.load(expected), 1, ordering="relaxed")
            with f.if_(success):
                f.break_()
            f.store(expected, old)

    for build in something_between, used_afterwards, another_variable, weaker:
        assert conditions(build) == ["x != expected in a round after another one"]  # and not in the first


def test_phis_on_the_way_take_their_values() -> None:
    def loop(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        done = f.local("done", I1, 0)
        with f.loop():
            f.store(done, 0)
            with f.if_(f.eq(read(f, x), 1)):
                f.store(done, f.eq(read(f, y), 2))
            with f.if_(f.load(done)):
                f.break_()

    assert conditions(loop) == ["x == 1 and y != 2", "x != 1"]


# --------------------------------------------------------------------------------------------------- placement


def test_registers_that_not_every_path_defines_come_through_phis() -> None:
    def loop(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        choice = f.local("choice", I32, 0)
        with f.loop():
            f.store(choice, 0)
            with f.if_(f.ne(read(f, x), 0)):
                f.store(choice, read(f, y))
            with f.if_(f.ne(read(f, z), f.load(choice))):
                f.break_()

    code = body(loop)
    # Two disjuncts, one for each path to the load of z; the load of y may not have been done.
    assert code.count("assume") == 2
    assert "[loop.1: undefined, then.3: %4]" in code
    assert conditions(loop) == ["x != 0 and z == y", "x == 0 and z == 0"]


def test_what_may_fail_must_not_be_skipped() -> None:
    def unknown_address(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        with f.while_(lambda: f.ne(read(f, x), 0)):
            read(f, f.element(y, f.convert("sext", f.parameters[0], I64)))

    assert body(unknown_address).count("assume") == 1
    assert "load i32 %6, seq_cst\n    %8 = eq i32 %3, 0\n    assume" not in body(unknown_address)
    lines = body(unknown_address).splitlines()
    assert "load" in lines[lines.index("    assume 0, loop") - 1]

    def division(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        with f.while_(lambda: f.ne(read(f, x), 0)):
            f.binary("sdiv", 1, f.parameters[0])

    lines = body(division).splitlines()
    assert "sdiv" in lines[lines.index("    assume 0, loop") - 1]

    def beyond_the_end(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        with f.while_(lambda: f.ne(read(f, x), 0)):
            f.load(GlobalAddress("y", 2), I32, ordering="seq_cst")

    lines = body(beyond_the_end).splitlines()
    assert "load i32 @y+2" in lines[lines.index("    assume 0, loop") - 1]


def test_what_may_race_must_not_be_skipped() -> None:
    def plain(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        with f.while_(lambda: f.ne(read(f, x), 0)):
            f.load(y)

    lines = body(plain).splitlines()
    assert "load i32 @y" in lines[lines.index("    assume 0, loop") - 1]

    def plain_elsewhere(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        f.store(y, 1)
        with f.while_(lambda: f.ne(read(f, x), 0)):
            read(f, y)

    lines = body(plain_elsewhere).splitlines()
    assert "load i32 @y" in lines[lines.index("    assume 0, loop") - 1]


def test_a_branch_on_an_undefined_value_is_not_skipped() -> None:
    """Both ways are pure, so the value does not matter; but if it is undefined, that is a bug."""

    def both_ways(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        unknown = f.load(f.local("unknown"))
        with f.while_(lambda: f.ne(read(f, x), 1)), f.if_(f.eq(unknown, 0)):
            pass

    def some_bits(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        # That this is not -128 is known, but not that it is greater.
        unknown = f.and_(f.load(f.local("unknown", I8)), 3)
        with f.while_(lambda: f.sgt(unknown, -128)):
            pass

    for build in both_ways, some_bits:
        program, _ = transformed(build)
        program.entry = "f"
        program.functions["f"].parameters.clear()
        exploration = Exploration(lower(program).code, algorithm="exhaustive")
        exploration.run()
        assert exploration.bug() is not None


def test_a_loop_without_an_end_stops_at_once() -> None:
    def forever(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        with f.loop():
            pass

    assert conditions(forever) == ["always"]
    assert "loop.1:\n    assume 0, loop\n    jump loop.1\n" in body(forever)


def test_switches() -> None:
    def loop(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        f.block("start")
        f.switch(read(f, x), {1: "out", 2: "start", 3: "out", 4: "write"}, "start")
        f.block("write")
        write(f, y, 1)
        f.jump("start")
        f.block("out")

    assert conditions(loop) == ["x != 1 and x != 3 and x != 4"]


def test_an_assume_of_the_program_is_part_of_the_condition() -> None:
    def loop(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        with f.loop():
            a = read(f, x)
            f.assume(f.slt(a, 5))
            with f.if_(f.eq(a, 1)):
                f.break_()

    assert conditions(loop) == ["(x <= 0 or 2 <= x <= 4)"]


def test_a_section_in_a_loop_gets_a_guard() -> None:
    def loop(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        with f.loop():
            with f.atomic():
                a, b = read(f, x), read(f, y)
            with f.if_(f.eq(a, b)):
                f.break_()

    assert conditions(loop) == ["x != y"]
    assert "        assume %4, loop\n    atomic end\n" in body(loop)


# ---------------------------------------------------------------------------------------------- loops in loops


def test_an_inner_loop_may_be_pure_in_an_impure_one() -> None:
    def loops(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        with f.repeat(3) as i:
            write(f, y, i)
            with f.while_(lambda: f.ne(read(f, x), i)):
                pass

    _, (outer, inner) = transformed(loops)
    assert outer.obstacle is not None and outer.obstacle.startswith("changes")
    assert len(inner.conditions) == 1


def test_no_flag_where_no_inner_loop_comes_before() -> None:
    def loops(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        with f.loop():
            a = read(f, x)
            with f.if_(f.eq(a, 0)):
                f.continue_()
            with f.while_(lambda: f.ne(read(f, y), 0)):
                pass
            with f.if_(f.eq(a, 1)):
                f.break_()
            write(f, z, 1)

    code = body(loops)
    assert "went_round" not in code
    assert "    %2 = load i32 @x, seq_cst\n    %3 = ne i32 %2, 0\n    assume %3, loop\n" in code


def test_loops_in_sections_and_with_several_entries_are_left_alone() -> None:
    def in_section(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        with f.atomic(), f.while_(lambda: f.ne(read(f, x), 0)):
            pass

    assert conditions(in_section) == ["it runs inside of an atomic section"]

    def two_entries(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        f.branch(f.eq(f.parameters[0], 0), "a", "b")
        f.block("a")
        f.branch(f.eq(read(f, x), 0), "b", "out")
        f.block("b")
        f.jump("a")
        f.block("out")

    assert conditions(two_entries) == ["control can enter it at several places"]


def test_sections_may_begin_in_another_function() -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("begin") as f:
        f.atomic_begin()
    with p.function("end") as f:
        f.atomic_end()
    with p.function("wait") as f, f.while_(lambda: f.ne(read(f, x), 0)):
        pass
    with p.function("main") as f:
        with f.loop():
            f.call("begin")
            a = read(f, x)
            f.call("end")
            with f.if_(f.eq(a, 1)):
                f.break_()
        f.call("begin")
        f.call("wait")
        f.call("end")
    reports = {report.function: report for report in eliminate_pure_iterations(p.build())}
    assert reports["wait"].obstacle == "it runs inside of an atomic section"
    assert [condition.text for condition in reports["main"].conditions] == ["x != 1"]


def test_too_many_ways_round() -> None:
    def loop(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        total = f.local("total", I32, 0)
        with f.loop():
            f.store(total, 0)
            for number in range(6):
                with f.if_(f.eq(read(f, x), number)):
                    f.store(total, f.add(f.load(total), read(f, y)))
            with f.if_(f.eq(f.load(total), 100)):
                f.break_()

    _, (report,) = transformed(loop)
    assert len(report.conditions) <= MAX_DISJUNCTS
    assert report.obstacle == "there are too many ways round; only the simplest are considered"


# ------------------------------------------------------------------------------------- waiting for several variables


def waits(build: Body) -> bool:
    """Whether the loop of `f` becomes one event."""
    p = ProgramBuilder()
    x, y, z = (p.variable(name) for name in "xyz")
    with p.function("f", I32) as f:
        build(f, x, y, z)
    with p.function("main"):
        pass
    program = p.build()
    for function in program.functions.values():
        promote(function)
    (report,) = eliminate_pure_iterations(program, awaits=True)
    validate(program)
    begins = "guarded begin" in format_function(program.functions["f"])
    assert begins == all(condition.awaited for condition in report.conditions)
    return begins


def test_a_loop_that_waits_for_either_of_two_variables_is_one_event() -> None:
    def either(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        with f.loop():
            with f.if_(f.eq(read(f, x), 0)):
                f.break_()
            with f.if_(f.ne(read(f, y), f.parameters[0])):
                f.break_()

    assert waits(either)


def test_a_loop_that_waits_for_both_of_two_variables_is_not() -> None:
    """One may have had its value when it was read, and the other when that was read, but never both at once."""

    def both(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        with f.loop():
            with f.if_(f.eq(read(f, x), 0)):
                f.continue_()
            with f.if_(f.eq(read(f, y), 0)):
                f.continue_()
            f.break_()

    assert not waits(both)


@pytest.mark.parametrize("difference", ["none", "used after", "two exits", "plain", "write", "relaxed", "pointer"])
def test_what_else_is_needed_to_wait_at_once(difference: str) -> None:
    def build(f: FunctionBuilder, x: GlobalAddress, y: GlobalAddress, z: GlobalAddress) -> None:
        seen = f.local("seen", I32, 0)
        with f.loop():
            a = f.load(x, ordering="relaxed" if difference == "relaxed" else "seq_cst")
            if difference == "used after":
                f.store(seen, a)
            with f.if_(f.eq(a, 0)):
                f.break_()
            b = f.load(y, ordering="plain" if difference == "plain" else "seq_cst")
            if difference == "pointer":
                read(f, f.element(y, f.convert("sext", a, I64)))
            if difference == "write":
                f.update("add", y, 0, used=False)
            with f.if_(f.eq(b, 0)):
                if difference == "two exits":
                    f.ret()
                else:
                    f.break_()
        write(f, z, f.load(seen))

    assert waits(build) == (difference == "none")


def test_peterson_is_never_blocked(tmp_path: Path) -> None:
    source = tmp_path / "peterson.c"
    source.write_text("""\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int flag[2], turn;
int inside;
void *run(void *argument) {
    int me = argument != 0, other = 1 - me;
    flag[me] = 1;
    turn = other;
    while (flag[other] && turn == other);
    assert(inside++ == 0);
    inside--;
    flag[me] = 0;
    return 0;
}
int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, run, 0);
    pthread_create(&second, 0, run, &first);
    pthread_join(first, 0);
    pthread_join(second, 0);
}
""")
    for algorithm in "pop", "optimal":
        result = check(source, algorithm=algorithm)
        assert (result.verdict, result.executions.complete, result.executions.blocked) == (Verdict.OK, 4, 0)


# ------------------------------------------------------------------------------------------------- called functions


def try_lock(p: ProgramBuilder, lock: GlobalAddress) -> None:
    with p.function("try_lock", returns=I1) as f:
        f.at("lock.c", 3)
        old = f.update("exchange", lock, 1)
        with f.if_(f.eq(old, 0)):
            f.ret(1)
        f.ret(0)


def test_a_called_function_is_inlined_if_that_helps() -> None:
    p = ProgramBuilder()
    lock = p.variable("lock")
    try_lock(p, lock)
    with p.function("main") as f:
        f.at("main.c", 5)
        with f.loop(), f.if_(f.call("try_lock", returns=I1)):
            f.break_()
    program = p.build()
    (report,) = eliminate_pure_iterations(program)
    validate(program)
    assert [condition.text for condition in report.conditions] == ["lock == 1"]
    assert str(report.location) == "main.c:5" and str(report.conditions[0].location) == "lock.c:3"
    code = [i for block in program.functions["main"].blocks.values() for i in block.instructions]
    assert report.conditions[0].assume in code
    inlined = {i.location.function for i in code if i.location and i.location.file == "lock.c"}
    assert inlined == {"try_lock"}


def test_a_called_function_stays_if_inlining_does_not_help() -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("count") as f:
        f.update("add", x, 1, used=False)
    with p.function("main") as f, f.while_(lambda: f.ne(read(f, x), 3)):
        f.call("count")
    program = p.build()
    before = format_function(program.functions["main"])
    (report,) = eliminate_pure_iterations(program)
    assert format_function(program.functions["main"]) == before
    assert report.obstacle == "calls count"


def test_functions_that_call_themselves_are_not_inlined() -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("again", I32, returns=I32) as f:
        with f.if_(f.eq(f.parameters[0], 0)):
            f.ret(read(f, x))
        f.ret(f.call("again", 0, returns=I32))
    with p.function("main") as f, f.while_(lambda: f.ne(f.call("again", 1, returns=I32), 3)):
        pass
    (report,) = eliminate_pure_iterations(p.build())
    assert report.obstacle == "calls again"


def test_atomics_of_cplusplus_are_looked_into(tmp_path: Path) -> None:
    source = tmp_path / "spin.cpp"
    source.write_text("""\
#include <atomic>
std::atomic<bool> held;
int main() {
    while (held.exchange(true));
    while (!held.load());
}
""")
    program = load_c_program([str(source)])
    for function in program.functions.values():
        promote(function)
    reports = eliminate_pure_iterations(program)
    validate(program)
    assert [[condition.text for condition in report.conditions] for report in reports] == [
        ["held and held == 1"],
        ["not held"],
    ]
    assert {condition.location and condition.location.line for r in reports for condition in r.conditions} == {4, 5}


def test_loops_of_inlined_functions_are_treated_once() -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("wait", returns=I32) as f, f.loop():
        a = read(f, x)
        with f.if_(f.ne(a, 0)):
            f.ret(a)
    with p.function("main") as f, f.while_(lambda: f.ne(f.call("wait", returns=I32), 2)):
        pass
    program = p.build()
    wait, main = eliminate_pure_iterations(program)
    validate(program)
    assert [condition.text for condition in wait.conditions] == ["x == 0"]
    assert [condition.text for condition in main.conditions] == ["x != 0 and x != 2"]
    assumes = [
        i for block in program.functions["main"].blocks.values() for i in block.instructions if isinstance(i, Assume)
    ]
    assert len(assumes) == 2


# -------------------------------------------------------------------------------------------------- words of the source


def test_conditions_speak_of_the_source(tmp_path: Path) -> None:
    source = tmp_path / "spin.c"
    source.write_text("""\
#include <stdatomic.h>
#include <sched.h>
struct node { atomic_int ready; struct node *next; } nodes[2];
atomic_int flag[2], turn;
atomic_bool stop;

void peterson(int me) {
    int other = 1 - me;
    while (flag[other] && turn == other)
        sched_yield();
}
void wait_for(struct node *n) {
    while (!n->next);
}
int main(void) {
    while (!nodes[1].ready);
    while (!stop);
    while (flag[1] != 2);
    peterson(0);
    wait_for(&nodes[0]);
    int before;
    do
        before = turn;
    while (turn != before);
}
""")
    program = load_c_program([str(source)])
    for function in program.functions.values():
        promote(function)
    said = [
        (report.function, report.location and report.location.line, condition.text)
        for report in eliminate_pure_iterations(program)
        for condition in report.conditions
    ]
    assert sorted(said) == [
        ("main", 16, "nodes[1].ready == 0"),
        ("main", 17, "not stop"),
        ("main", 18, "flag[1] != 2"),
        ("main", 23, "turn [line 24] != turn [line 23]"),
        ("peterson", 9, "flag[1 - me] != 0 and turn == 1 - me"),
        ("wait_for", 13, "*(n + 8) == null"),
    ]


# ----------------------------------------------------------------------------------------------------- conditions


@pytest.mark.parametrize("bits", [1, 2, 3])
def test_sets_of_values(bits: int) -> None:
    numbers = range(1 << bits)
    signed = {n: n - (1 << bits) if n >> (bits - 1) else n for n in numbers}
    for predicate in get_args(Predicate):
        if predicate.startswith("f"):
            continue
        for number in numbers:
            values = satisfying(predicate, number, bits)
            assert [n for n in numbers if n in values] == [n for n in numbers if _compare(predicate, n, number, signed)]
    sets = [ValueSet.of(bits, *((n, n) for n in numbers if mask >> n & 1)) for mask in range(1 << len(numbers))]
    for left, right in product(sets, sets):
        for n in numbers:
            assert (n in left & right) == (n in left and n in right)
            assert (n in left | right) == (n in left or n in right)
            assert (n in ~left) == (n not in left)
        assert (left <= right) == all(n in right for n in numbers if n in left)
    for values, number in product(sets, numbers):
        moved, reflected = values.plus(number), values.subtracted_from(number)
        for n in numbers:
            assert ((n + number) % (1 << bits) in moved) == (n in values)
            assert ((number - n) % (1 << bits) in reflected) == (n in values)


def _compare(predicate: str, left: int, right: int, signed: dict[int, int]) -> bool:
    a, b = (signed[left], signed[right]) if predicate.startswith("s") else (left, right)
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[
        predicate if predicate in ("eq", "ne") else predicate[1:]
    ]


def test_terms_are_said_of_what_they_are_computed_from() -> None:
    a, b = Register("a", I8), Register("b", I8)

    def constant(number: int, type: Int = I8) -> Constant:
        return Constant(type, number % (1 << type.bits))

    def inside(*ranges: tuple[int, int]) -> ValueSet:
        return ValueSet.of(8, *ranges)

    wide = Operation("zext", (a,), I32)
    assert holds(Operation("ult", (wide, constant(300, I32)), I1), TRUE) == [{a: inside((0, 255))}]
    assert holds(Operation("ugt", (wide, constant(300, I32)), I1), TRUE) == []
    signed = Operation("sext", (a,), I32)
    assert holds(Operation("slt", (signed, constant(-1, I32)), I1), TRUE) == [{a: inside((128, 254))}]
    sum = Operation("add", (a, constant(3)), I8)
    assert holds(Operation("eq", (sum, constant(1)), I1), TRUE) == [{a: inside((254, 254))}]
    assert equal(sum, a) == []
    assert equal(Operation("add", (a, b), I8), a) == [{a: ~inside(), b: inside((0, 0))}]
    less, more = Operation("slt", (a, b), I1), Operation("sge", (a, b), I1)
    assert holds(more, FALSE) == holds(less, TRUE) == [{less: TRUE}]
    assert conjoin(holds(less, TRUE), holds(more, TRUE)) == []
    both = Operation("and", (Operation("eq", (a, constant(1)), I1), Operation("eq", (b, constant(2)), I1)), I1)
    assert holds(both, TRUE) == [{a: inside((1, 1)), b: inside((2, 2))}]
    assert holds(both, FALSE) == [{a: ~inside((1, 1))}, {b: ~inside((2, 2))}]


def test_nothing_is_done_to_programs_without_loops() -> None:
    p = ProgramBuilder()
    x = p.variable("x", PTR)
    with p.function("main") as f:
        f.lock(x)
        f.unlock(x)
    program = p.build()
    before = copy.deepcopy(program)
    assert eliminate_pure_iterations(program) == []
    assert format_function(program.functions["main"]) == format_function(before.functions["main"])
