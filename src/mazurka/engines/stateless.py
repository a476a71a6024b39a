"""The face of the native explorers: run a search in a thread of its own, watch it, stop it when it is time."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mazurka.schedule import Schedule, Step

if TYPE_CHECKING:
    from mazurka.transforms.lowering import Lowered

ALGORITHMS = ("pop", "optimal", "exhaustive", "random")
RACES = ("warn", "error", "ignore")
# How many executions a random walk tries when nobody says how long to go on.
RANDOM_EXECUTIONS = 10_000
_POLL_SECONDS = 0.1


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
    max_steps: int = 100_000


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
    """What a search has found. `algorithm` is the one that was used in the end. `bounded` are those of the `blocked`
    executions in which a loop met its bound, `assumed` those of the others in which an assumption is false. `failure`
    is the schedule of the first bug, `races` those of the data races. A search that did not cover everything gives an
    `estimate` of how many executions there are in all, if it can, and the `reason`, unless it stopped because of the
    bug."""

    algorithm: str
    complete: int
    blocked: int
    bounded: int
    assumed: int
    redundant: int
    failure: Schedule | None
    races: tuple[Schedule, ...]
    reason: str | None
    estimate: int | None


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
    start = time.monotonic()
    problems: list[BaseException] = []
    done = threading.Event()  # rather than the end of the thread: an interrupted `join` takes it for ended

    def run() -> None:
        try:
            exploration.run()
        except BaseException as problem:  # raised again below, where the caller can see it
            problems.append(problem)
        finally:
            done.set()

    def progress() -> Progress:
        complete, blocked, _, _, depth, fraction = exploration.progress()
        executions, seconds = complete + blocked, time.monotonic() - start
        return Progress(executions, executions / seconds, depth, seconds, _estimate(executions, fraction))

    reason = None
    worker = threading.Thread(target=run, name="mazurka exploration", daemon=True)
    worker.start()
    try:
        while not done.is_set():
            left = _POLL_SECONDS
            if options.timeout is not None:
                left = min(left, start + options.timeout - time.monotonic())
                if left <= 0:
                    reason = f"the time limit of {options.timeout:g} s was reached"
                    break
            if not done.wait(left) and watch is not None:
                watch(progress())
    except KeyboardInterrupt:
        reason = "interrupted"
    finally:
        exploration.stop()
        _await_end(worker, done)
    if problems:
        raise problems[0]

    names = tuple(exploration.thread_names())
    races = tuple(
        Schedule(names, _steps(names, steps), (first + 1, second + 1)) for first, second, steps in exploration.races()
    )
    bug, failure = exploration.bug(), None
    if bug is not None:
        failure = Schedule(names, _steps(names, bug[2]))
        if bug[0] == "race":
            failure = next(race for race in races if race.steps == failure.steps)
    if exploration.finished():
        reason = None
    elif reason is None and (bug is None or options.keep_going):
        assert max_executions is not None, "the search ended for no reason"
        reason = f"the limit of {max_executions:,} executions was reached"
    complete, blocked, redundant, *_ = exploration.progress()
    return Outcome(
        exploration.algorithm(),
        complete,
        blocked,
        exploration.bounded(),
        exploration.assumed(),
        redundant,
        failure,
        races,
        reason,
        None if exploration.finished() else progress().estimate,
    )


def _estimate(executions: int, fraction: float) -> int | None:
    """How many executions there are, if those so far are this fraction of them."""
    whole = executions / fraction if fraction else math.inf
    return round(whole) if math.isfinite(whole) else None


def _steps(names: Sequence[str], schedule: Sequence[tuple[int, Sequence[int]]]) -> tuple[Step, ...]:
    return tuple(Step(names[thread - 1], tuple(choices)) for thread, choices in schedule)


def _await_end(worker: threading.Thread, done: threading.Event) -> None:
    """The search is told to stop and will, within a step: an impatient second Ctrl-C changes nothing."""
    while not done.is_set():
        with contextlib.suppress(KeyboardInterrupt):
            done.wait()
    worker.join()
