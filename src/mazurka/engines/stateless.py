"""The face of the native explorers, which search the executions of a program."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mazurka.engines.running import run, steps
from mazurka.result import Executions
from mazurka.schedule import Schedule

if TYPE_CHECKING:
    from mazurka.transforms.lowering import Lowered

ALGORITHMS = ("pop", "optimal", "exhaustive", "random")
RACES = ("warn", "error", "ignore")
# How many executions a random walk tries when nobody says how long to go on.
RANDOM_EXECUTIONS = 10_000
MAX_STEPS = 100_000


@dataclass(frozen=True, slots=True)
class Options:
    """How to search.

    algorithm: "pop" and "optimal" explore one execution of each equivalence class, "exhaustive" every interleaving,
    "random" walks at random until a limit is met (`RANDOM_EXECUTIONS`, if none is given). `seed` is that of the random
    walk (1 if None); the others begin each execution with the first thread that can go on, or with one that depends on
    the seed. `commute`: updates like fetch-and-add whose old value nobody uses need no order among themselves.
    races: "warn" collects data races, "error" takes them for bugs, "ignore" does not look for them.
    `uninitialised`: report branches and addresses that depend on memory that was never written. `allow_livelock`: loops
    that wait for others for ever are no bugs. `keep_going`: count on after the first bug. `max_steps` limits each
    execution, `timeout` (in seconds) and `max_executions` the search.
    """

    algorithm: str = "pop"
    seed: int | None = None
    commute: bool = True
    races: str = "warn"
    uninitialised: bool = True
    allow_livelock: bool = False
    keep_going: bool = False
    timeout: float | None = None
    max_executions: int | None = None
    max_steps: int = MAX_STEPS


@dataclass(frozen=True, slots=True)
class Progress:
    """A search so far: executions explored to their end, how many per second, the number of steps in the current one,
    the time in seconds, and about how many executions there are in all (None where that cannot be told)."""

    executions: int
    per_second: float
    depth: int
    seconds: float
    estimate: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search has found: the `executions` that it covered, `failure`, the schedule of the first bug, which is of
    this `kind` ("failure", "deadlock", "livelock", "steps" or "race"), `races`, the schedules of the data races, and
    the `reason` why it did not cover everything, unless it stopped because of the bug."""

    executions: Executions
    failure: Schedule | None
    kind: str | None
    races: tuple[Schedule, ...]
    reason: str | None


def explore(lowered: Lowered, options: Options, watch: Callable[[Progress], None] | None = None) -> Outcome:
    """Search the executions of a program. `watch` is called about ten times a second. An interrupt (Ctrl-C) ends the
    search, not the program: what was covered is in the outcome."""
    from mazurka import _native

    random = options.algorithm == "random"
    max_executions = options.max_executions
    if random and max_executions is None and options.timeout is None:
        max_executions = RANDOM_EXECUTIONS
    exploration = _native.Exploration(
        lowered.code,
        algorithm=options.algorithm,
        seed=int(random) if options.seed is None else options.seed,
        races=options.races,
        uninitialised=options.uninitialised,
        commute=options.commute,
        allow_livelock=options.allow_livelock,
        keep_going=options.keep_going,
        max_executions=max_executions or 0,
        max_steps=options.max_steps,
    )

    def progress(seconds: float) -> Progress:
        complete, blocked, _, _, depth, fraction = exploration.progress()
        executions = complete + blocked
        return Progress(executions, executions / seconds, depth, seconds, _estimate(executions, fraction))

    def tell(seconds: float) -> None:
        assert watch is not None
        watch(progress(seconds))

    seconds, reason = run(exploration, options.timeout, tell if watch else None)
    names = tuple(exploration.thread_names())
    races = tuple(
        Schedule(names, steps(names, taken), (first + 1, second + 1)) for first, second, taken in exploration.races()
    )
    bug, failure = exploration.bug(), None
    if bug is not None:
        failure = Schedule(names, steps(names, bug[2]))
        if bug[0] == "race":
            failure = next(race for race in races if race.steps == failure.steps)
    if exploration.finished():
        reason = None
    elif reason is None and (bug is None or options.keep_going):
        assert max_executions is not None, "the search ended for no reason"
        reason = f"the limit of {max_executions:,} executions was reached"
    complete, blocked, redundant, *_ = exploration.progress()
    executions = Executions(
        algorithm=exploration.algorithm(),
        complete=complete,
        blocked=blocked,
        redundant=redundant,
        bounded=exploration.bounded(),
        assumed=exploration.assumed(),
        estimate=None if exploration.finished() else progress(seconds).estimate,
    )
    return Outcome(executions, failure, bug[0] if bug else None, races, reason)


def _estimate(executions: int, fraction: float) -> int | None:
    """How many executions there are, if those so far are this fraction of them."""
    whole = executions / fraction if fraction else math.inf
    return round(whole) if math.isfinite(whole) else None
