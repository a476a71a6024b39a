"""The face of the native state search, which visits each state of a program once, however often executions return to
it: for programs that never end."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mazurka.engines.running import run, steps
from mazurka.errors import InputError
from mazurka.program.instructions import Assume
from mazurka.result import States
from mazurka.schedule import Schedule
from mazurka.sizes import format_size

if TYPE_CHECKING:
    from mazurka.transforms.lowering import Lowered

REDUCTIONS = ("cpc", "cycle-detection", "unsound", "none")
# A thread that computes on its own for longer than this many instructions does so in several steps: there is a state at
# the end of each, so that also a loop that does nothing, for ever, comes back to one that is known.
PAUSE_AFTER = 10_000


@dataclass(frozen=True, slots=True)
class Options:
    """How to search.

    reduction: "cpc" (commit point completion) and "cycle-detection" let other threads run only between transactions,
    each in its own way of not ignoring anybody for ever; "none" lets them run everywhere; "unsound" does as "cpc" but
    may ignore a thread for ever, and so miss bugs. `exact` keeps whole states instead of fingerprints. `uninitialised`:
    report branches and addresses that depend on memory that was never written. `keep_going`: go on after the first bug.
    `timeout` (in seconds), `max_memory` (in bytes; None: `default_memory_limit`) and `max_states` limit the search.
    """

    reduction: str = "cpc"
    exact: bool = False
    uninitialised: bool = True
    keep_going: bool = False
    timeout: float | None = None
    max_memory: int | None = None
    max_states: int | None = None


@dataclass(frozen=True, slots=True)
class StateProgress:
    """A search so far: states visited, how many per second, the memory that they take in bytes, the number of steps
    that lead to the current one, the time in seconds, whether the reduction is one that misses no bugs, and whether a
    bug was found, so that now a shorter way to it is looked for."""

    states: int
    per_second: float
    memory: int
    depth: int
    seconds: float
    sound: bool
    shortening: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search has found: the `states` that it covered, `failure`, the schedule of the first bug, which is of this
    `kind` ("failure" or "deadlock"), and the `reason` why there may be bugs that it did not find, unless it stopped
    because of that one."""

    states: States
    failure: Schedule | None
    kind: str | None
    reason: str | None


def explore(lowered: Lowered, options: Options, watch: Callable[[StateProgress], None] | None = None) -> Outcome:
    """Search the states of a program, in which loops go round as they are. `watch` is called about ten times a second.
    An interrupt (Ctrl-C) ends the search, not the program: what was covered is in the outcome."""
    from mazurka import _native

    if any(isinstance(at, Assume) and at.origin != "program" for _, at in lowered.origin):
        raise InputError(
            "the stateful engine needs loops that go round as they are: prepare the program with purity=False, and "
            "without unroll"
        )
    max_memory = options.max_memory or default_memory_limit()
    search = _native.StateSearch(
        lowered.code,
        reduction=options.reduction,
        exact=options.exact,
        uninitialised=options.uninitialised,
        keep_going=options.keep_going,
        max_memory=max_memory,
        max_states=options.max_states or 0,
        pause_after=PAUSE_AFTER,
    )
    sound = options.reduction != "unsound"

    def tell(seconds: float) -> None:
        assert watch is not None
        states, _, depth, _, memory, _, shortening = search.progress()
        watch(StateProgress(states, states / seconds, memory, depth, seconds, sound, shortening))

    seconds, reason = run(search, options.timeout, tell if watch else None)
    bug, names, finished = search.bug(), tuple(search.thread_names()), search.finished()
    if finished:
        reason = None if sound else "the unsound reduction can miss bugs"
    elif bug is not None and not options.keep_going:
        reason = None  # what was stopped, if anything, is the search for a shorter way to the bug
    elif search.limit() == "memory":
        reason = f"the memory limit of {format_size(max_memory)} was reached"
    elif search.limit() == "states":
        reason = f"the limit of {options.max_states:,} states was reached"
    else:
        assert reason is not None, "the search ended for no reason"
    visited, transitions, depth, deepest, memory, restarts, _ = search.progress()
    states = States(
        reduction=options.reduction,
        exact=options.exact,
        finished=finished,
        visited=visited,
        transitions=transitions,
        depth=depth,
        deepest=deepest,
        memory=memory,
        restarts=restarts,
        per_second=visited / seconds,
    )
    failure = Schedule(names, steps(names, bug[2]), pause_after=PAUSE_AFTER) if bug else None
    return Outcome(states, failure, bug[0] if bug else None, reason)


def default_memory_limit() -> int:
    """Half of the memory that there is: that of the machine, or what `ulimit -v` or a container leaves of it."""
    memory = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    if allowed != resource.RLIM_INFINITY:
        memory.append(allowed)
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # there is none, or it says "max"
            memory.append(int(Path(limit).read_text()))
    return min(memory) // 2
