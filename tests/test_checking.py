"""`mazurka.check`: what it accepts, how it is watched, what it says of a search that ended early."""

from __future__ import annotations

import pytest

import mazurka
from mazurka import Progress, Verdict
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
