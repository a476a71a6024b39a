"""Run a native search in a thread of its own, watch it, stop it when it is time."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from mazurka.schedule import Step

_POLL_SECONDS = 0.1


class Search(Protocol):
    """What all native searches can do. `run` holds no GIL, and returns soon after `stop`."""

    def run(self) -> None: ...
    def stop(self) -> None: ...


def run(search: Search, timeout: float | None, watch: Callable[[float], None] | None) -> tuple[float, str | None]:
    """Run a search to its end, or for `timeout` seconds. `watch` is called about ten times a second with the seconds so
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
            left = _POLL_SECONDS
            if timeout is not None:
                left = min(left, start + timeout - time.monotonic())
                if left <= 0:
                    reason = f"the time limit of {timeout:g} s was reached"
                    break
            if not done.wait(left) and watch is not None:
                watch(time.monotonic() - start)
    except KeyboardInterrupt:
        reason = "interrupted"
    finally:
        search.stop()
        _await_end(worker, done)
    if problems and isinstance(problems[0], MemoryError):
        reason = "there is no more memory"
    elif problems:
        raise problems[0]
    return time.monotonic() - start, reason


def steps(names: Sequence[str], schedule: Sequence[tuple[int, Sequence[int]]]) -> tuple[Step, ...]:
    """The steps of a schedule as the native searches tell it: by the numbers of threads, from 1."""
    return tuple(Step(names[thread - 1], tuple(choices)) for thread, choices in schedule)


def _await_end(worker: threading.Thread, done: threading.Event) -> None:
    """The search is told to stop and will, within a step: an impatient second Ctrl-C changes nothing."""
    while not done.is_set():
        with contextlib.suppress(KeyboardInterrupt):
            done.wait()
    worker.join()
