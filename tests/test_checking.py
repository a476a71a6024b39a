"""`mazurka.check`: what it accepts, how it is watched, what it says of a search that ended early."""

from __future__ import annotations

import pytest

import mazurka
from mazurka import Progress, Verdict, replaying
from mazurka.program.builder import ProgramBuilder
from mazurka.program.program import Program


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
        ("algorithm", "magic", "algorithm can be pop, optimal, exhaustive, random, not 'magic'"),
        ("races", "maybe", "races can be warn, error, ignore, not 'maybe'"),
        ("seed", -1, "seed must be a number of 64 bits, not -1"),
        ("timeout", 0, "timeout must be above 0, not 0"),
    ],
)
def test_what_there_is_not(option: str, value: object, words: str) -> None:
    with pytest.raises(mazurka.InputError) as error:
        mazurka.check(writers(1, 1), **{option: value})  # type: ignore[arg-type]
    assert str(error.value) == words


def test_progress_is_told_while_a_search_runs() -> None:
    told: list[Progress] = []
    result = mazurka.check(writers(4, 50), timeout=1, progress=told.append)
    assert result.verdict is Verdict.INCOMPLETE
    assert len(told) >= 3
    last = told[-1]
    assert [progress.executions for progress in told] == sorted(progress.executions for progress in told)
    assert 0 < last.executions <= result.executions.complete
    assert last.seconds < 2
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


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while the trace is made."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(replaying, "replay_schedule", interrupted)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("engine", ["stateless", "stateful"])
@pytest.mark.parametrize(("how", "kind"), [("fail", "assertion"), ("wait", "deadlock")])
def test_a_bug_that_was_found_survives_an_interrupt(engine: str, how: str, kind: str) -> None:
    program = failing(how)
    result = mazurka.check(program, engine=engine)
    assert result.bug is not None and result.schedule is not None
    assert (result.verdict, result.bug.kind, result.trace) == (Verdict.BUG, kind, None)
    steps = len(result.schedule.steps)
    assert result.bug.message == (
        f"a failure ({kind}) was found, {steps} step{'s' if steps != 1 else ''} from the start; interrupted before it "
        "could be told in words"
    )
    assert result.reason == "interrupted"


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("engine", ["stateless", "stateful"])
def test_a_limit_of_mazurka_is_no_bug_after_an_interrupt_either(engine: str) -> None:
    result = mazurka.check(failing("limit"), engine=engine)
    assert (result.verdict, result.bug, result.trace) == (Verdict.INCOMPLETE, None, None)
    assert result.reason is not None and result.reason.startswith("a limit of Mazurka (too many choices) was met, ")


@pytest.mark.usefixtures("impatient")
def test_data_races_that_could_not_be_told_leave_a_check_incomplete() -> None:
    result = mazurka.check(writers(2, 1))
    assert (result.verdict, result.reason, result.races) == (Verdict.INCOMPLETE, "interrupted", ())
