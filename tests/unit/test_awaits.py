"""Which accesses wait for what is assumed of them, which do not, and that nothing is lost by it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import mazurka
from mazurka import Verdict
from mazurka.program.builder import FunctionBuilder, ProgramBuilder
from mazurka.program.instructions import Assume, AssumeOrigin, GlobalAddress, Ordering, Register, UpdateOp
from mazurka.program.printer import format_function
from mazurka.program.program import Program
from mazurka.program.types import I1, I32
from mazurka.program.validate import validate
from mazurka.transforms import make_awaits, promote

Body = Callable[[FunctionBuilder, GlobalAddress], None]
Condition = Callable[[FunctionBuilder, Register], Register]
ORIGINS: list[AssumeOrigin] = ["program", "loop"]


def transformed(body: Body) -> Program:
    """A program with a function `f` that gets a number and works on the shared variable `x`, with awaits."""
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("main"):
        pass
    with p.function("f", I32) as f:
        body(f, x)
    program = p.build()
    make_awaits(program)
    validate(program)
    return program


def code(body: Body) -> list[str]:
    """The first block of `f`, with awaits."""
    text = format_function(transformed(body).functions["f"])
    return [line.strip() for line in text.splitlines()[2:-2]]


def words(body: Body) -> list[str]:
    """What each of them is called."""
    return [line.rpartition(" = ")[2].split()[0] for line in code(body)]


# ---------------------------------------------------------------------------------------------- what waits


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_load_waits(origin: AssumeOrigin) -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        f.assume(f.eq(f.load(x, ordering="acquire"), 1), origin)

    assert code(body) == [
        "guarded begin",
        "%2 = load i32 @x, acquire",
        "%3 = eq i32 %2, 1",
        "assume %3" if origin == "program" else "assume %3, loop",
        "atomic end",
    ]


CONDITIONS: dict[str, Condition] = {
    "an order": lambda f, a: f.slt(a, 7),
    "a mask": lambda f, a: f.eq(f.and_(a, 3), 0),
    "arithmetic": lambda f, a: f.ne(f.add(f.mul(a, 2), 1), f.xor(a, 5)),
    "what was known before": lambda f, a: f.eq(a, f.parameters[0]),
    "a conjunction": lambda f, a: f.and_(f.sgt(a, 1), f.ne(a, f.parameters[0])),
    "a choice": lambda f, a: f.select(f.eq(f.parameters[0], 1), f.eq(a, 1), f.eq(a, 2)),
    "a division by a number": lambda f, a: f.eq(f.binary("srem", a, 4), 1),
    "the truth of a number": lambda f, a: f.convert("trunc", a, I1),
}


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS.keys())
def test_conditions_of_all_kinds(condition: Condition) -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        f.assume(condition(f, f.load(x, ordering="seq_cst")))

    done = words(body)
    assert (done[0], done[1], done[-2], done[-1]) == ("guarded", "load", "assume", "atomic")


@pytest.mark.parametrize("op", ["exchange", "add", "or", "max"])
def test_updates_wait_for_loops(op: UpdateOp) -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        f.assume(f.eq(f.update(op, x, 1), 0), "loop")

    assert words(body) == ["guarded", "update", "eq", "assume", "atomic"]


def test_a_compare_exchange_waits_for_a_loop() -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        old, _ = f.compare_exchange(x, 0, 1)
        f.assume(f.ne(old, 2), "loop")

    assert words(body) == ["guarded", "compare_exchange", "ne", "assume", "atomic"]


SUCCESSES: dict[str, Callable[[FunctionBuilder, Register, Register], Register]] = {
    "success": lambda f, old, success: success,
    "as an int of C": lambda f, old, success: f.ne(f.convert("zext", success, I32), 0),
    "not a failure": lambda f, old, success: f.not_(f.not_(success)),
    "the old value": lambda f, old, success: f.eq(old, 5),
}


@pytest.mark.parametrize("condition", SUCCESSES.values(), ids=SUCCESSES.keys())
def test_a_compare_exchange_waits_for_its_success(
    condition: Callable[[FunctionBuilder, Register, Register], Register],
) -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        f.assume(condition(f, *f.compare_exchange(x, 5, 1)))

    done = words(body)
    assert (done[0], done[1], done[-2], done[-1]) == ("guarded", "compare_exchange", "assume", "atomic")


def test_an_unknown_expected_value_is_the_old_one_on_success() -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        old, _ = f.compare_exchange(x, f.parameters[0], 1)
        f.assume(f.eq(f.parameters[0], old))

    assert words(body) == ["guarded", "compare_exchange", "eq", "assume", "atomic"]


def test_several_assumes_are_several_guards() -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        seen = f.load(x, ordering="seq_cst")
        f.assume(f.ne(seen, 1))
        f.assume(f.ne(seen, 2), "loop")

    assert words(body) == ["guarded", "load", "ne", "assume", "ne", "assume", "atomic"]


def test_an_assume_about_something_else_stays_local() -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        seen = f.load(x, ordering="seq_cst")
        f.assume(f.ne(f.parameters[0], 1), "loop")
        f.assume(f.ne(seen, 2))

    assert words(body) == ["guarded", "load", "ne", "ne", "assume", "atomic", "assume"]


def test_each_access_waits_for_what_is_assumed_of_it() -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        first = f.load(x, ordering="seq_cst")
        second = f.load(x, ordering="seq_cst")
        f.assume(f.eq(first, second))
        f.assume(f.ne(first, 0))

    assert words(body) == ["load", "guarded", "load", "eq", "assume", "atomic", "ne", "assume"]


# ------------------------------------------------------------------------------------------ what does not


def unchanged(body: Body) -> None:
    assert not any("guarded" in line for line in code(body))


@pytest.mark.parametrize("op", ["exchange", "add"])
def test_a_write_that_the_program_regrets_has_happened(op: UpdateOp) -> None:
    unchanged(lambda f, x: f.assume(f.eq(f.update(op, x, 1), 3)))


REGRETS: dict[str, Callable[[FunctionBuilder, Register, Register], Register]] = {
    "success and more": lambda f, old, success: f.and_(success, f.eq(f.parameters[0], 1)),
    "failure": lambda f, old, success: f.not_(success),
    "another value": lambda f, old, success: f.eq(old, 6),
}


@pytest.mark.parametrize("condition", REGRETS.values(), ids=REGRETS.keys())
def test_a_compare_exchange_that_may_succeed_in_vain_does_not_wait(
    condition: Callable[[FunctionBuilder, Register, Register], Register],
) -> None:
    unchanged(lambda f, x: f.assume(condition(f, *f.compare_exchange(x, 5, 1))))


def test_what_may_fail_or_be_seen_is_not_moved() -> None:
    def divides(f: FunctionBuilder, x: GlobalAddress) -> None:
        f.assume(f.eq(f.binary("udiv", 12, f.load(x, ordering="seq_cst")), 3))

    def divides_by_minus_one(f: FunctionBuilder, x: GlobalAddress) -> None:
        f.assume(f.eq(f.binary("sdiv", f.load(x, ordering="seq_cst"), -1), 3))

    def prints(f: FunctionBuilder, x: GlobalAddress) -> None:
        seen = f.load(x, ordering="seq_cst")
        f.print("!")
        f.assume(f.eq(seen, 3))

    def goes_on(f: FunctionBuilder, x: GlobalAddress) -> None:
        seen = f.load(x, ordering="seq_cst")
        with f.if_(f.eq(f.parameters[0], 0)):
            f.assume(f.eq(seen, 3))

    for body in (divides, divides_by_minus_one, prints, goes_on):
        unchanged(body)


def test_an_assume_of_the_program_that_might_fail_is_not_put_off() -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        seen = f.load(x, ordering="seq_cst")
        f.assume(f.ne(f.parameters[0], 1))
        f.assume(f.ne(seen, 2))

    unchanged(body)


def test_a_bound_is_no_guard() -> None:
    unchanged(lambda f, x: f.assume(f.eq(f.load(x, ordering="seq_cst"), 3), "bound"))


def test_an_atomic_section_stays_as_it_is() -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        with f.atomic():
            f.assume(f.eq(f.load(x), 3))

    assert words(body) == ["atomic", "load", "eq", "assume", "atomic"]


def test_a_second_time_changes_nothing() -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        f.assume(f.eq(f.load(x, ordering="seq_cst"), 3))

    program = transformed(body)
    before = format_function(program.functions["f"])
    assert not make_awaits(program)
    assert format_function(program.functions["f"]) == before


def test_updates_that_commute_have_no_result_to_wait_for() -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        f.update("add", x, 1, used=False)
        f.assume(f.eq(f.parameters[0], 0))

    assert words(body) == ["update", "eq", "assume"]


@pytest.mark.parametrize(("origin", "waits"), [("program", False), ("loop", True)])
def test_an_access_that_is_not_atomic_is_seen_whatever_the_program_assumes(origin: AssumeOrigin, waits: bool) -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        f.assume(f.eq(f.load(x), 1), origin)

    assert ("guarded begin" in code(body)) == waits


def test_the_assumes_that_became_guards_are_returned() -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("main") as f:
        f.assume(f.eq(f.load(x, ordering="seq_cst"), 0))
        f.assume(f.eq(f.load(x), 0))
    program = p.build()
    first, _ = [i for i in program.functions["main"].entry.instructions if isinstance(i, Assume)]
    assert make_awaits(program) == {first}


# ------------------------------------------------------------------------------------- what can be seen of it


def outcomes(body: Body, others: Body, *, awaits: bool) -> mazurka.Result:
    """Check a program with a thread that does `body`, while another does `others`."""
    p = ProgramBuilder()
    x = p.variable("x")
    for name, build in (("waiting", body), ("other", others)):
        with p.function(name, I32) as f:
            build(f, x)
    with p.function("main") as f:
        f.spawn("waiting", 0)
        f.spawn("other", 0)
    program = p.build()
    if awaits:
        make_awaits(program)
    return mazurka.check(program)


def test_who_comes_too_early_waits() -> None:
    def waits(f: FunctionBuilder, x: GlobalAddress) -> None:
        f.assume(f.eq(f.load(x, ordering="seq_cst"), 2))

    def writes(f: FunctionBuilder, x: GlobalAddress) -> None:
        for value in (1, 2):
            f.store(x, value, ordering="seq_cst")

    stopping, waiting = (outcomes(waits, writes, awaits=awaits) for awaits in (False, True))
    assert (stopping.executions.complete, stopping.executions.blocked) == (1, 2)
    assert (waiting.executions.complete, waiting.executions.blocked) == (1, 0)


def test_who_waits_in_vain_has_not_failed() -> None:
    def waits(f: FunctionBuilder, x: GlobalAddress) -> None:
        f.assume(f.eq(f.load(x, ordering="seq_cst"), 2))

    result = outcomes(waits, lambda f, x: f.store(x, 1, ordering="seq_cst"), awaits=True)
    assert (result.verdict, result.bug) == (Verdict.INCOMPLETE, None), "nothing was checked to its end"
    assert (result.executions.complete, result.executions.blocked) == (0, 1)


@pytest.mark.parametrize("awaits", [False, True])
def test_others_see_a_write_before_its_thread_stops(awaits: bool) -> None:
    result = outcomes(
        lambda f, x: f.assume(f.eq(f.update("add", x, 1), 3)),
        lambda f, x: f.check(f.eq(f.load(x, ordering="seq_cst"), 0)),
        awaits=awaits,
    )
    assert result.bug is not None


@pytest.mark.parametrize("awaits", [False, True])
@pytest.mark.parametrize("ordering", ["relaxed", "acquire", "seq_cst"])
def test_a_guarded_access_synchronises_as_it_would_alone(awaits: bool, ordering: Ordering) -> None:
    p = ProgramBuilder()
    flag, data = p.variable("flag"), p.variable("data")
    with p.function("waiting") as f:
        f.assume(f.eq(f.load(flag, ordering=ordering), 1))
        f.load(data)
    with p.function("main") as f:
        f.spawn("waiting")
        f.store(data, 1)
        f.store(flag, 1, ordering="release")
    program = p.build()
    if awaits:
        make_awaits(program)
    races = mazurka.check(program).races
    assert [race.object for race in races] == (["data"] if ordering == "relaxed" else [])


SPIN = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
void __VERIFIER_assume(int);
TYPE flag;
atomic_int set;
void *initialise(void *unused) { INITIALISE; atomic_store(&set, 1); return unused; }
void *wait(void *unused) { WAIT; return unused; }
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, initialise, 0);
    pthread_create(&threads[1], 0, wait, 0);
    while (!atomic_load(&set)) {}
    WRITE;
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
}
"""


def spin(directory: Path, **parts: str) -> mazurka.Result:
    path = directory / "spin.c"
    path.write_text(SPIN)
    parts = {"TYPE": "atomic_int", "INITIALISE": "", "WRITE": "flag = 1", **parts}
    return mazurka.check(path, compiler_arguments=[f"-D{name}={text}" for name, text in parts.items()])


@pytest.mark.parametrize(
    "wait",
    [
        "while (!flag) {}",
        "do {} while (!flag)",
        "for (;;) if (flag & 1) break",
        "while (1) { int seen = flag; if (seen > 0 && seen < 5) break; }",
        "while (!atomic_compare_exchange_strong(&flag, &(int){1}, 2)) {}",
        "__VERIFIER_assume(flag)",
        "__VERIFIER_assume(flag % 2 == 1)",
        "__VERIFIER_assume(__sync_bool_compare_and_swap((int *)&flag, 1, 2))",
    ],
)
def test_loops_and_assumptions_of_c_wait(tmp_path: Path, wait: str) -> None:
    result = spin(tmp_path, WAIT=wait)
    assert (result.verdict, result.executions.blocked) == (Verdict.OK, 0)


@pytest.mark.parametrize("wait", ["while (!flag) {}", "while (flag == 0) { if (flag > 1) break; }"])
def test_a_loop_on_a_plain_variable_races(tmp_path: Path, wait: str) -> None:
    result = spin(tmp_path, TYPE="int", WAIT=wait)
    assert result.verdict is Verdict.OK
    assert {race.object for race in result.races} == {"flag"}
    assert not any(access.atomic for race in result.races for access in (race.first, race.second))


def test_a_wait_does_not_hide_a_race_with_what_was_read_in_vain(tmp_path: Path) -> None:
    """The loop may read `flag` while it is being initialised. That it leaves only later is no excuse."""
    (race,) = spin(tmp_path, INITIALISE="atomic_init(&flag, 0)", WAIT="while (!flag) {}").races
    assert (race.object, race.first.atomic, race.second.atomic) == ("flag", False, True)


def test_promotion_comes_first(tmp_path: Path) -> None:
    """The condition goes through a local variable."""
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("main") as f:
        seen = f.local("seen", I32)
        f.store(seen, f.load(x, ordering="seq_cst"))
        f.assume(f.eq(f.load(seen), 0))
    program = p.build()
    promote(program.functions["main"])
    assert len(make_awaits(program)) == 1
