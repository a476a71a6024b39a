"""Run a native search in a thread of its own, watch it, stop it when it is time."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from mazurka.deadline import Deadline
from mazurka.executions.schedule import Reading, Schedule, Step, ToldStep

NO_MEMORY = "there is no more memory"
INTERRUPTED = "interrupted"

_POLL_SECONDS = 0.1


class Search(Protocol):
    """What all native searches can do. `run` holds no GIL, and returns soon after `stop`."""

    def run(self) -> None: ...
    def stop(self) -> None: ...


def run(search: Search, deadline: Deadline, watch: Callable[[float], None] | None = None) -> tuple[float, str | None]:
    """Run a search to its end, or until the deadline. `watch` is called about ten times a second with the seconds so
    far. An interrupt (Ctrl-C) ends the search, not the program, and so does memory that runs out. Returns the seconds
    that it took, and the reason if it did not end by itself."""
    start = time.monotonic()
    problems: list[BaseException] = []
    done = threading.Event()  # rather than the end of the thread: an interrupted `join` takes it for ended

    def work() -> None:
        try:
            search.run()
        except BaseException as problem:  # raised again below, where the caller can see it
            problems.append(problem)
        finally:
            done.set()

    reason = None
    worker = threading.Thread(target=work, name="mazurka search", daemon=True)
    worker.start()
    try:
        while not done.is_set():
            left = deadline.left()
            if left <= 0:
                reason = deadline.reason
                break
            if not done.wait(min(left, _POLL_SECONDS)) and watch is not None:
                watch(time.monotonic() - start)
    except KeyboardInterrupt:
        reason = INTERRUPTED
    finally:
        search.stop()
        _await_end(worker, done)
    if problems and isinstance(problems[0], MemoryError):
        reason = NO_MEMORY
    elif problems:
        raise problems[0]
    return time.monotonic() - start, reason


def schedule(names: tuple[str, ...], told: Sequence[ToldStep], pause_after: int = 0) -> Schedule:
    """A schedule as the native searches tell it."""
    plain = [Step(name) for name in names]  # most say nothing else, and equal ones take no more room than one
    end: tuple[Reading, ...] = ()
    if told and told[-1][0] == 0:
        *told, (_, _, left) = told
        end = tuple(Reading(*read) for read in left)
    steps = tuple(
        Step(names[thread - 1], tuple(choices), tuple(Reading(*read) for read in reads))
        if choices or reads
        else plain[thread - 1]
        for thread, choices, reads in told
    )
    return Schedule(names, steps, end=end, pause_after=pause_after)


# Positions of the steps that race, and all steps up to the second of them.
ToldRace = tuple[int, int, Sequence[ToldStep]]


def race(names: tuple[str, ...], told: ToldRace, pause_after: int = 0) -> Schedule:
    """The schedule of a data race, as the native searches tell it."""
    first, second, taken = told
    return replace(schedule(names, taken, pause_after), race=(first + 1, second + 1))


def _await_end(worker: threading.Thread, done: threading.Event) -> None:
    """The search is told to stop and will, within a step: an impatient second Ctrl-C changes nothing."""
    while not done.is_set():
        with contextlib.suppress(KeyboardInterrupt):
            done.wait()
    worker.join()
