"""The face of the native explorers, which search the executions of a program."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mazurka.deadline import NEVER, Deadline
from mazurka.engines.outcome import BEYOND, ONE_JOB, VACUOUS, Found, Outcome
from mazurka.engines.running import ToldRace, race, run, schedule
from mazurka.executions.positions import Source
from mazurka.executions.schedule import Schedule
from mazurka.options import ALGORITHM, EQUIVALENCE, JOBS, MAX_STEPS, MEMORY, RACES, RANDOM_EXECUTIONS
from mazurka.program.orders import always_synchronises
from mazurka.program.symmetry import find_asymmetry
from mazurka.result import Executions

if TYPE_CHECKING:
    from mazurka._native import Exploration, GraphExploration
    from mazurka.machine.lowering import Lowered

    _Search = Exploration | GraphExploration


@dataclass(frozen=True, slots=True)
class Options:
    """How to search, as `mazurka.options` explains it. The algorithm "graphs" explores the executions of the `memory`
    model, up to an `equivalence`, the others interleavings."""

    algorithm: str = ALGORITHM.default
    memory: str = MEMORY.default
    equivalence: str = EQUIVALENCE.default
    jobs: int | str = JOBS.default
    seed: int | None = None
    commute: bool = True
    symmetry: bool = True
    races: str = RACES.default
    suppress_race: Sequence[str] = ()
    uninitialised: bool = True
    leaks: bool = False
    any_status: bool = False
    allow_livelock: bool = False
    keep_going: bool = False
    max_executions: int | None = None
    max_steps: int = MAX_STEPS.default


@dataclass(frozen=True, slots=True)
class Progress:
    """A search so far: executions explored to their end, how many per second, the number of steps in the current one,
    the time in seconds, and about how many executions there are in all (None where that cannot be told). For `classes`
    of reads-from, each is one execution of a class."""

    executions: int
    per_second: float
    depth: int
    seconds: float
    estimate: int | None
    classes: bool = False


def explore(
    lowered: Lowered,
    options: Options,
    deadline: Deadline = NEVER,
    watch: Callable[[Progress], None] | None = None,
    passes_over: Callable[[Schedule], bool] | None = None,
    *,
    until_endless: bool = False,
) -> Outcome[Executions]:
    """Search the executions of a program. `watch` is called about ten times a second, and `passes_over` with each new
    data race, from the thread of the search, to know whether it is of no interest. An interrupt (Ctrl-C) ends the
    search, not the program: what was covered is in the outcome. `until_endless`: end with the first execution that has
    more steps than it may have."""
    from mazurka import _native

    random = options.algorithm == "random"
    max_executions = options.max_executions
    if random and max_executions is None and deadline.timeout is None:
        max_executions = RANDOM_EXECUTIONS

    jobs = len(os.sched_getaffinity(0)) if options.jobs == "auto" else options.jobs

    def is_suppressed(names: Sequence[str], told: ToldRace) -> bool:
        assert passes_over is not None
        return passes_over(race(tuple(names), told))

    common: dict[str, Any] = {
        "races": options.races,
        "passes_over": is_suppressed if passes_over is not None else None,
        "uninitialised": options.uninitialised,
        "leaks": options.leaks,
        "any_status": options.any_status,
        "allow_livelock": options.allow_livelock,
        "keep_going": options.keep_going,
        "max_executions": max_executions or 0,
        "max_steps": options.max_steps,
        "until_endless": until_endless,
        "jobs": jobs,
    }
    exploration: _Search
    symmetry = options.symmetry and find_asymmetry(lowered.program) is None
    if options.algorithm == "graphs":
        # (Which of two threads that are alike goes first is told by the order of writes.)
        symmetry = symmetry and options.equivalence == "traces"
        symmetry = symmetry and (options.memory != "c11" or always_synchronises(lowered.program))
        exploration = _native.GraphExploration(
            lowered.code, memory=options.memory, equivalence=options.equivalence, symmetry=symmetry, **common
        )
    else:
        seed = int(random) if options.seed is None else options.seed
        exploration = _native.Exploration(
            lowered.code,
            algorithm=options.algorithm,
            seed=seed,
            commute=options.commute,
            symmetry=symmetry,
            **common,
        )

    equivalence = options.equivalence if options.algorithm == "graphs" else None

    def progress(seconds: float) -> Progress:
        complete, blocked, _, _, depth, fraction = exploration.progress()
        executions = complete + blocked
        estimate = _estimate(executions, fraction)
        return Progress(executions, executions / seconds, depth, seconds, estimate, equivalence == "reads-from")

    def tell(seconds: float) -> None:
        assert watch is not None
        watch(progress(seconds))

    seconds, reason = run(exploration, deadline, tell if watch else None)
    names = tuple(exploration.thread_names())
    # One at a time: they can be long.
    races = tuple(race(names, exploration.race(number)) for number in range(exploration.race_count()))
    bug, limit = _bug(exploration, names, races), exploration.limit_met()
    estimate = None if exploration.finished() else progress(seconds).estimate
    reason = _why_it_ended(exploration, reason, max_executions, goes_on=bug is None or options.keep_going)
    if exploration.finished() and bug is None and _is_vacuous(exploration):
        reason = VACUOUS
    met = Found(limit[0], schedule(names, limit[2])) if limit else None
    others = tuple(_bugs(exploration, names))
    if bug is not None and bug.kind != "race":
        bug, others = replace(others[0], schedule=bug.schedule), others[1:]
    left = exploration.left()
    waiting = schedule(names, left) if left else None
    coverage = _coverage(lowered, exploration, equivalence, estimate)
    if coverage.handed_over and coverage.jobs != jobs:
        coverage = replace(coverage, handed_over=f"{coverage.handed_over}; {ONE_JOB}")
    return Outcome(coverage, bug, met, reason, races, others, waiting)


def _why_it_ended(
    exploration: _Search, stopped: str | None, max_executions: int | None, *, goes_on: bool
) -> str | None:
    """Why a search has not covered everything; None if it has, or if that is because of a bug, after which it does not
    go on. `stopped` is why it was made to end, if it was."""
    complete, blocked, *_ = exploration.progress()
    if exploration.finished():
        return None
    if stopped is not None:
        return stopped
    if max_executions is not None and complete + blocked >= max_executions:
        return f"the limit of {max_executions:,} executions was reached"
    if not goes_on:
        return None
    assert exploration.limit_met() is not None, "the search ended for no reason"
    return BEYOND


def _is_vacuous(exploration: _Search) -> bool:
    complete, *_ = exploration.progress()
    return exploration.assumed() > 0 == complete + exploration.bounded()


def _coverage(lowered: Lowered, exploration: _Search, equivalence: str | None, estimate: int | None) -> Executions:
    complete, blocked, redundant, *_ = exploration.progress()
    told_apart = exploration.told_apart()
    return Executions(
        algorithm=exploration.algorithm(),
        jobs=exploration.jobs(),
        finished=exploration.finished(),
        complete=complete,
        blocked=blocked,
        redundant=redundant,
        bounded=exploration.bounded(),
        assumed=exploration.assumed(),
        beyond=exploration.beyond(),
        told_apart=told_apart if told_apart != (complete, blocked) else None,
        handed_over=_handed_over(lowered, exploration.hand_over()),
        estimate=estimate,
        equivalence=equivalence,
    )


def _bug(exploration: _Search, names: tuple[str, ...], races: tuple[Schedule, ...]) -> Found | None:
    bug = exploration.bug()
    if bug is None:
        return None
    kind, _, taken, failure = bug
    shown = schedule(names, taken)
    if kind == "race":
        shown = next(race for race in races if race.steps == shown.steps)
    return Found(failure or kind, shown)


def _bugs(exploration: _Search, names: tuple[str, ...]) -> Iterator[Found]:
    for number in range(exploration.bug_count()):
        kind, thread, taken, failure, executions = exploration.bug_at(number)
        # One that ended the search was not counted any more.
        executions = max(executions, 1)
        yield Found(failure or kind, schedule(names, taken), executions, names[thread - 1])


def _handed_over(lowered: Lowered, hand_over: tuple[str, list[int]] | None) -> str | None:
    """Why the program was left to another algorithm, and where that was seen."""
    if hand_over is None:
        return None
    why, frames = hand_over
    position = Source(lowered).position(frames)
    return f"{why} at {position.file}:{position.line}" if position else why


def _estimate(executions: int, fraction: float) -> int | None:
    """How many executions there are, if those so far are this fraction of them."""
    whole = executions / fraction if fraction else math.inf
    return round(whole) if math.isfinite(whole) else None
