"""Loops that are bounded: what is explored of them, and that nobody takes it for everything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import mazurka
from mazurka import InputError, Verdict
from mazurka.program.builder import FunctionBuilder, ProgramBuilder
from mazurka.program.instructions import GlobalAddress
from mazurka.program.printer import format_function
from mazurka.program.program import Program
from mazurka.program.types import I32
from mazurka.program.validate import validate
from mazurka.transforms import bound_loops, prepare


def bounded(body: Callable[[FunctionBuilder, GlobalAddress], None], iterations: int) -> mazurka.Result:
    """Check a program of one thread and one shared variable, with a bound on its loops."""
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("main") as f:
        body(f, x)
    program = p.build()
    bound_loops(program, iterations)
    validate(program)
    return mazurka.check(program)


def counts_to(limit: int) -> Callable[[FunctionBuilder, GlobalAddress], None]:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        with f.loop():
            f.store(x, f.add(f.load(x), 1))
            with f.if_(f.eq(f.load(x), limit)):
                f.break_()

    return body


@pytest.mark.parametrize(("iterations", "verdict"), [(1, Verdict.INCOMPLETE), (3, Verdict.INCOMPLETE), (4, Verdict.OK)])
def test_a_loop_goes_round_as_often_as_it_may(iterations: int, verdict: Verdict) -> None:
    result = bounded(counts_to(4), iterations)
    stopped = int(verdict is Verdict.INCOMPLETE)
    assert (result.verdict, result.executions.bounded) == (verdict, stopped)
    assert (result.executions.complete, result.executions.blocked) == (1 - stopped, stopped)


@pytest.mark.parametrize(("iterations", "found"), [(2, False), (3, True)])
def test_a_bug_within_the_bound_is_found(iterations: int, found: bool) -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        with f.loop():
            f.store(x, f.add(f.load(x), 1))
            f.check(f.ne(f.load(x), 3))

    result = bounded(body, iterations)
    assert (result.bug is not None) == found
    assert result.verdict is (Verdict.BUG if found else Verdict.INCOMPLETE)


def test_each_entry_of_a_loop_counts_anew() -> None:
    """Each round of the outer loop has two of the inner one."""

    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        with f.repeat(2), f.repeat(2):
            f.store(x, f.add(f.load(x), 1))
        f.check(f.ne(f.load(x), 4), "all four")

    for iterations in (2, 3):
        result = bounded(body, iterations)
        assert result.verdict is (Verdict.INCOMPLETE if iterations == 2 else Verdict.BUG)


def test_a_loop_with_several_ways_back() -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        with f.loop():
            f.store(x, f.add(f.load(x), 1))
            with f.if_(f.eq(f.load(x), 1)):
                f.continue_()
            with f.if_(f.eq(f.load(x), 2)):
                f.continue_()
            f.break_()

    assert [bounded(body, iterations).verdict for iterations in (2, 3)] == [Verdict.INCOMPLETE, Verdict.OK]


def test_who_was_stopped_counts_even_if_the_program_ends() -> None:
    """Main ends all, also the thread that was stopped and would have failed."""
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("worker") as f, f.loop():
        f.store(x, f.add(f.load(x), 1))
        f.check(f.ne(f.load(x), 5))
    with p.function("main") as f:
        f.spawn("worker")
        f.exit()
    program = p.build()
    bound_loops(program, 2)
    result = mazurka.check(program)
    assert result.verdict is Verdict.INCOMPLETE
    assert result.executions.bounded


def test_a_section_is_one_step_however_often_it_goes_round() -> None:
    """If the bound were a guard of the section, it would be taken later, and the bug before that would be lost."""
    p = ProgramBuilder()
    x, y = p.variable("x", value=5), p.variable("y")
    with p.function("worker") as f:
        with f.atomic(), f.loop():
            f.store(y, f.add(f.load(y), 1))
            with f.if_(f.sge(f.load(y), f.load(x))):
                f.break_()
        f.check(f.ne(f.load(y), 5))
    with p.function("main") as f:
        f.spawn("worker")
        f.store(x, 1)
    program = p.build()
    bound_loops(program, 2)
    assert mazurka.check(program).bug is not None


def test_only_loops_of_the_program_are_bounded() -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("library") as f, f.repeat(3):
        f.store(x, 1)
    with p.function("main") as f:
        f.call("library")
    program = p.build()
    program.functions["library"].library = True
    before = format_function(program.functions["library"])
    bound_loops(program, 1)
    assert format_function(program.functions["library"]) == before
    assert mazurka.check(program).verdict is Verdict.OK


def test_a_cycle_with_two_entries_is_explored_without_a_bound() -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("main") as f:
        f.branch(f.eq(f.load(x), 0), "one", "other")
        f.block("one")
        f.store(x, f.add(f.load(x), 1))
        f.jump("other")
        f.block("other")
        f.branch(f.slt(f.load(x), 9), "one", "end")
        f.block("end")
        f.check(f.ne(f.load(x), 9))
    program = p.build()
    bound_loops(program, 2)
    assert mazurka.check(program).bug is not None


# ------------------------------------------------------------------------------------------ with everything


SPIN = """
#include <pthread.h>
#include <stdatomic.h>
atomic_int go, done;
void *worker(void *unused) {
    for (int i = 0; i < ROUNDS; i++) {
        while (atomic_load(&go) == 0) {}
        atomic_fetch_add(&done, 1);
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    WRITE;
    pthread_join(thread, 0);
}
"""


def spin(directory: Path, unroll: int | None, rounds: int = 2, write: str = "atomic_store(&go, 1)") -> mazurka.Result:
    path = directory / "spin.c"
    path.write_text(SPIN)
    return mazurka.check(path, compiler_arguments=[f"-DROUNDS={rounds}", f"-DWRITE={write}"], unroll=unroll)


def test_a_loop_that_only_waits_never_meets_its_bound(tmp_path: Path) -> None:
    result = spin(tmp_path, 3)
    assert (result.verdict, result.executions.complete, result.executions.blocked) == (Verdict.OK, 1, 0)


def test_a_loop_around_it_does(tmp_path: Path) -> None:
    result = spin(tmp_path, 2)
    assert (result.verdict, result.reason) == (Verdict.INCOMPLETE, None)
    assert (result.executions.bounded, result.executions.unroll) == (1, 2)


@pytest.mark.parametrize("unroll", [None, 1, 5, 1_000_000])
def test_a_livelock_is_one_under_any_bound(tmp_path: Path, unroll: int | None) -> None:
    result = spin(tmp_path, unroll, rounds=1, write="")
    assert result.bug is not None and result.bug.kind == "livelock"


def test_bounds_come_last() -> None:
    """A counter would make every round of a loop different from the one before."""

    def program() -> Program:
        p = ProgramBuilder()
        x = p.variable("x")
        with p.function("main") as f, f.loop(), f.if_(f.eq(f.load(x, I32, ordering="seq_cst"), 1)):
            f.break_()
        return p.build()

    text = format_function(prepare(program(), unroll=3).functions["main"])
    assert "guarded begin" in text and ", loop" in text and ", bound" in text
    assert ", bound" not in format_function(prepare(program()).functions["main"])


@pytest.mark.parametrize("unroll", [0, -1])
def test_a_bound_is_above_zero(tmp_path: Path, unroll: int) -> None:
    for run in (lambda: spin(tmp_path, unroll), lambda: mazurka.load(tmp_path / "spin.c", unroll=unroll)):
        with pytest.raises(InputError) as error:
            run()
        assert str(error.value) == f"unroll must be a number above 0, not {unroll}"


@pytest.mark.parametrize("option", [{"purity": False}, {"awaits": False}, {"unroll": 3}])
def test_a_program_is_explored_as_it_is(option: dict[str, int]) -> None:
    p = ProgramBuilder()
    with p.function("main"):
        pass
    with pytest.raises(InputError) as error:
        mazurka.check(p.build(), **option)  # type: ignore[arg-type]
    assert "are for files: a Program is explored as it is" in str(error.value)
