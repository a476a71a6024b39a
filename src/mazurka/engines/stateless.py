"""The face of the native explorers: run a search in a thread of its own, watch it, stop it when it is time."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mazurka.schedule import Schedule, Step

if TYPE_CHECKING:
    from mazurka.transforms.lowering import Lowered

ALGORITHMS = ("sleepsets", "exhaustive")
_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Options:
    """How to search.

    algorithm: "sleepsets" explores each equivalence class of executions to its end exactly once, "exhaustive" every
    interleaving. `commute`: updates like fetch-and-add whose old value nobody uses need no order among themselves.
    `uninitialised`: report branches and addresses that depend on memory that was never written. `keep_going`: count
    on after the first bug. `max_steps` limits each execution, `timeout` (in seconds) and `max_executions` the search.
    """

    algorithm: str = "sleepsets"
    commute: bool = True
    uninitialised: bool = True
    keep_going: bool = False
    timeout: float | None = None
    max_executions: int | None = None
    max_steps: int = 100_000


@dataclass(frozen=True, slots=True)
class Progress:
    """A search so far: executions by their ends, steps in all, the depth of the current execution, time."""

    complete: int
    blocked: int
    redundant: int
    steps: int
    depth: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """`failure` is the schedule of the first bug. A search that did not cover everything says the `reason`, unless
    it stopped because of the bug."""

    progress: Progress
    failure: Schedule | None
    reason: str | None


def explore(lowered: Lowered, options: Options, watch: Callable[[Progress], None] | None = None) -> Outcome:
    """Search the executions of a program. `watch` is called about ten times a second. An interrupt (Ctrl-C) ends the
    search, not the program: what was covered is in the outcome."""
    from mazurka import _native

    exploration = _native.Exploration(
        lowered.code,
        algorithm=options.algorithm,
        uninitialised=options.uninitialised,
        commute=options.commute,
        keep_going=options.keep_going,
        max_executions=options.max_executions or 0,
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
        return Progress(*exploration.progress(), time.monotonic() - start)

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

    failure = None
    bug = exploration.bug()
    if bug is not None:
        names = exploration.thread_names()
        steps = tuple(Step(names[thread - 1], tuple(choices)) for thread, choices in bug[2])
        failure = Schedule(tuple(names), steps)
    if exploration.finished():
        reason = None
    elif reason is None and (bug is None or options.keep_going):
        assert options.max_executions is not None, "the search ended for no reason"
        reason = f"the limit of {options.max_executions} executions was reached"
    return Outcome(progress(), failure, reason)


def _await_end(worker: threading.Thread, done: threading.Event) -> None:
    """The search is told to stop and will, within a step: an impatient second Ctrl-C changes nothing."""
    while not done.is_set():
        with contextlib.suppress(KeyboardInterrupt):
            done.wait()
    worker.join()
