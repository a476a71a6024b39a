"""`mazurka.check`: what it accepts, how it is watched, what it says of a search that ended early."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import mazurka
from mazurka import Bug, Executions, Limit, Progress, Result, Schedule, Verdict
from mazurka.deadline import NEVER, Deadline, OutOfTime
from mazurka.executions import replaying
from mazurka.program.builder import ProgramBuilder
from mazurka.program.instructions import Constant
from mazurka.program.program import Program
from mazurka.program.types import Int
from tests.support.interrupting import until_told


def writers(threads: int, accesses: int) -> Program:
    """Threads that increase the same variable, again and again, in two steps each."""
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("worker") as f, f.repeat(accesses):
        f.store(x, f.add(f.load(x), 1))
    with p.function("main") as f:
        for _ in range(threads):
            f.spawn("worker")
    return p.build()


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("races", "maybe", "races can be warn, error, ignore, not 'maybe'"),
        ("seed", -1, "seed must be a number of 64 bits, not -1"),
        ("timeout", 0, "timeout must be a time above 0, not 0"),
    ],
)
def test_what_there_is_not(option: str, value: object, words: str) -> None:
    with pytest.raises(mazurka.InputError) as error:
        mazurka.check(writers(1, 1), **{option: value})  # type: ignore[arg-type]
    assert str(error.value) == words


@pytest.mark.parametrize("engine", ["stateless", "stateful"])
def test_a_program_that_is_not_well_formed_is_refused(engine: str) -> None:
    """The machine computes with 64 bits: what it made of this shift was "verified"."""
    wide = Int(128)
    p = ProgramBuilder()
    with p.function("main") as f, f.if_(f.ne(f.binary("shl", Constant(wide, 1), Constant(wide, 100)), 0)):
        f.fail("assertion", "a bit is set")
    with pytest.raises(mazurka.InputError) as error:
        mazurka.check(p.program, engine=engine)
    where = "function 'main', block 'entry', `%1 = shl i128 1, 100`"
    problem = "i128 is not an integer type of 1 to 64 bits"
    assert str(error.value) == f"not a well-formed program: {where}: {problem}"
    with pytest.raises(mazurka.InputError, match=r"^not a well-formed program: "):
        mazurka.replay(p.program, Schedule((), ()))


def test_progress_is_told_while_a_search_runs() -> None:
    told: list[Progress] = []
    result = mazurka.check(writers(4, 50), progress=until_told(3, told))
    assert (result.verdict, result.reason) == (Verdict.INCOMPLETE, "interrupted")
    last = told[-1]
    assert [progress.executions for progress in told] == sorted(progress.executions for progress in told)
    assert 0 < last.executions <= result.executions.complete
    assert last.per_second == pytest.approx(last.executions / last.seconds)
    assert last.depth > 0
    assert last.estimate is not None and last.estimate > last.executions


def test_a_search_ends_when_its_watcher_fails() -> None:
    def watch(_: Progress) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        mazurka.check(writers(4, 50), progress=watch)


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "exhaustive"])
def test_an_estimate_gets_better(algorithm: str) -> None:
    program = writers(2, 2) if algorithm == "exhaustive" else writers(3, 2)
    whole = mazurka.check(program, algorithm=algorithm)
    assert (whole.verdict, whole.executions.estimate) == (Verdict.OK, None)
    early = mazurka.check(program, algorithm=algorithm, max_executions=whole.executions.complete * 9 // 10)
    assert early.verdict is Verdict.INCOMPLETE and early.executions.estimate is not None
    assert whole.executions.complete / 2 < early.executions.estimate < whole.executions.complete * 2


def test_a_random_walk_has_no_estimate_and_depends_on_its_seed_only() -> None:
    program = writers(3, 2)
    walks = [mazurka.check(program, algorithm="random", seed=seed, max_executions=500) for seed in (None, 1, 2)]
    assert all(walk.verdict is Verdict.INCOMPLETE for walk in walks)
    assert all((walk.executions.complete, walk.executions.estimate) == (500, None) for walk in walks)
    races = [walk.races for walk in walks]
    assert races[0] == races[1]


def test_a_random_walk_without_a_limit_has_one() -> None:
    result = mazurka.check(writers(2, 1), algorithm="random")
    assert (result.executions.complete, result.reason) == (10_000, "the limit of 10,000 executions was reached")


@pytest.mark.parametrize("algorithm", ["pop", "optimal"])
@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_the_seed_changes_no_count(algorithm: str, seed: int | None) -> None:
    result = mazurka.check(writers(3, 1), algorithm=algorithm, seed=seed)
    assert (result.verdict, result.executions.complete, result.executions.redundant) == (Verdict.OK, 36, 0)


# ------------------------------------------------------------------------------------ an interrupt after the search


def failing(how: str) -> Program:
    """A program that goes wrong at once: it "fails", or meets a "limit" of Mazurka, or waits in a "deadlock"."""
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("main") as f:
        f.store(x, 1)
        match how:
            case "fail":
                f.fail("assertion", "x is set")
            case "limit":
                f.choose(1 << 20)
            case _:
                with f.atomic():
                    f.await_(f.eq(f.load(x), 0), "a miracle", x)
    return p.build()


@pytest.fixture(params=[KeyboardInterrupt, OutOfTime, MemoryError])
def stopped(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Something that ends the telling of what was found, and what is said of it."""
    stop: type[BaseException] = request.param

    def end(*_: object, **__: object) -> None:
        raise stop

    monkeypatch.setattr(replaying, "replay_schedule", end)
    monkeypatch.setattr(replaying, "tell_race", end)
    words: dict[type[BaseException], str] = {
        OutOfTime: "the time limit of 3600 s was reached",
        MemoryError: "there is no more memory",
    }
    return words.get(stop, "interrupted")


@pytest.mark.parametrize("engine", ["stateless", "stateful"])
@pytest.mark.parametrize(("how", "kind"), [("fail", "assertion"), ("wait", "deadlock")])
def test_a_bug_that_was_found_survives_an_interrupt(stopped: str, engine: str, how: str, kind: str) -> None:
    program = failing(how)
    result = mazurka.check(program, engine=engine, timeout=3600)
    assert result.bug is not None and result.schedule is not None
    assert (result.verdict, result.bug.kind, result.trace) == (Verdict.BUG, kind, None)
    steps = len(result.schedule.steps)
    assert result.bug.message == (
        f"a failure ({kind}) was found, {steps} step{'s' if steps != 1 else ''} from the start; {stopped} before it "
        "could be told in words"
    )
    assert result.reason == stopped


@pytest.mark.usefixtures("stopped")
@pytest.mark.parametrize("engine", ["stateless", "stateful"])
def test_a_limit_of_mazurka_is_no_bug_after_an_interrupt_either(engine: str) -> None:
    result = mazurka.check(failing("limit"), engine=engine, timeout=3600)
    assert (result.verdict, result.bug, result.trace) == (Verdict.INCOMPLETE, None, None)
    assert result.reason is not None and result.reason.startswith("a limit of Mazurka (too many choices) was met, ")


def test_data_races_that_could_not_be_told_leave_a_check_incomplete(stopped: str) -> None:
    result = mazurka.check(writers(2, 1), timeout=3600)
    assert (result.verdict, result.reason, result.races) == (Verdict.INCOMPLETE, stopped, ())


def test_what_comes_after_a_search_has_the_time_that_it_left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    deadlines: list[Deadline] = []
    replay = replaying.replay_schedule

    def listen(*parameters: Any, deadline: Deadline, **options: Any) -> replaying.Replay:
        deadlines.append(deadline)
        return replay(*parameters, deadline=deadline, **options)

    monkeypatch.setattr(replaying, "replay_schedule", listen)
    for timeout in (None, 3600):
        mazurka.check(failing("fail"), timeout=timeout)
    assert deadlines[0] == NEVER
    assert deadlines[1].at <= time.monotonic() + 3600


def test_a_deadline_that_has_passed() -> None:
    passed = Deadline(timeout=0.5, at=0)
    with pytest.raises(OutOfTime):
        passed.check()
    assert passed.reason == "the time limit of 0.5 s was reached"
    extended = passed.extended(3600)
    extended.check()
    assert extended.reason == passed.reason
    NEVER.check()


# ----------------------------------------------------------------------------------------- the order of precedence

FOUND = Bug("assertion", "wrong", None, None, None)
DEEP = Limit("stack_overflow", "too deep")


@pytest.mark.parametrize(
    ("bug", "limit", "reason", "bounded", "verdict", "said"),
    [
        (FOUND, None, "interrupted", 1, Verdict.BUG, "interrupted"),
        (FOUND, None, None, 0, Verdict.BUG, None),
        (None, DEEP, None, 0, Verdict.INCOMPLETE, "too deep"),
        (None, DEEP, "interrupted", 1, Verdict.INCOMPLETE, "too deep; interrupted"),
        (None, None, "interrupted", 1, Verdict.INCOMPLETE, "interrupted"),
        (None, None, None, 1, Verdict.INCOMPLETE, None),
        (None, None, None, 0, Verdict.OK, None),
    ],
)
def test_a_bug_outranks_a_limit_and_that_any_other_reason(
    bug: Bug | None, limit: Limit | None, reason: str | None, bounded: int, verdict: Verdict, said: str | None
) -> None:
    coverage = Executions("pop", 1, blocked=bounded, bounded=bounded)
    result = Result.judged(bug=bug, limit=limit, reason=reason, coverage=coverage, seconds=0)
    assert (result.verdict, result.bug, result.reason) == (verdict, bug, said)


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "exhaustive", "random"])
@pytest.mark.parametrize("keep_going", [False, True])
def test_a_race_outranks_a_limit_that_was_met_before(algorithm: str, keep_going: bool) -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("worker") as f:
        f.store(x, 1)
    with p.function("main") as f:
        f.spawn("worker")
        with f.if_(f.eq(f.load(x), 0)):
            f.choose(1 << 20)
        f.store(x, 2)
    program = p.build()
    assert mazurka.check(program, algorithm=algorithm, keep_going=keep_going).verdict is Verdict.INCOMPLETE
    result = mazurka.check(program, algorithm=algorithm, keep_going=keep_going, races="error")
    assert result.bug is not None and result.bug.kind == "race"


def test_a_report_says_that_no_signal_comes_from_outside(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text("#include <signal.h>\nvoid f(int n) {}\nint main(void) { signal(SIGINT, f); return 0; }")
    result = mazurka.check(source)
    assert result.verdict is Verdict.OK
    assert [sentence.partition(":")[0] for sentence in result.left_out] == [
        "signal handlers run only where the program itself raises a signal"
    ]
    source.write_text("int main(void) { return 0; }")
    assert mazurka.check(source).left_out == ()
