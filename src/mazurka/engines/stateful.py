"""The face of the native state search, which visits each state of a program once, however often executions return to
it: for programs that never end."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mazurka.deadline import NEVER, Deadline
from mazurka.engines import running
from mazurka.engines.outcome import BEYOND, VACUOUS, Found, Outcome
from mazurka.engines.running import ToldRace, race, run
from mazurka.errors import InputError
from mazurka.executions.schedule import Schedule, ToldStep
from mazurka.options import RACES, REDUCTION
from mazurka.program.instructions import Assume
from mazurka.result import States
from mazurka.sizes import format_size

if TYPE_CHECKING:
    from mazurka._native import StateSearch
    from mazurka.machine.lowering import Lowered

# A thread that computes on its own for longer than this many instructions does so in several steps: there is a state at
# the end of each, so that also a loop that does nothing, for ever, comes back to one that is known.
PAUSE_AFTER = 10_000


@dataclass(frozen=True, slots=True)
class Options:
    """How to search, as `mazurka.options` explains it. `max_memory` None: `default_memory_limit`."""

    reduction: str = REDUCTION.default
    exact: bool = False
    races: str = RACES.default
    allow_livelock: bool = False
    uninitialised: bool = True
    leaks: bool = False
    any_status: bool = False
    keep_going: bool = False
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


def explore(
    lowered: Lowered,
    options: Options,
    deadline: Deadline = NEVER,
    watch: Callable[[StateProgress], None] | None = None,
    passes_over: Callable[[Schedule], bool] | None = None,
    *,
    until_growth: bool = False,
) -> Outcome[States]:
    """Search the states of a program, in which loops go round as they are. `watch` is called about ten times a second,
    and `passes_over` with each new data race, from the thread of the search, to know whether it is of no interest. An
    interrupt (Ctrl-C) ends the search, not the program: what was covered is in the outcome. `until_growth`: end also
    where it seems that something keeps growing."""
    from mazurka import _native

    if not fits(lowered):
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
        leaks=options.leaks,
        any_status=options.any_status,
        keep_going=options.keep_going,
        livelocks=not options.allow_livelock,
        races=options.races,
        passes_over=_judge(passes_over) if passes_over is not None else None,
        until_growth=until_growth,
        max_memory=max_memory,
        max_states=options.max_states or 0,
        pause_after=PAUSE_AFTER,
    )

    def tell(seconds: float) -> None:
        assert watch is not None
        states, _, depth, _, memory, _, shortening = search.progress()
        sound = options.reduction != "unsound"
        watch(StateProgress(states, states / seconds, memory, depth, seconds, sound, shortening))

    seconds, stopped = run(search, deadline, tell if watch else None)
    return _outcome(
        search, _covered(search, options, seconds), _reason(search, options, max_memory, stopped), options.keep_going
    )


def _judge(passes_over: Callable[[Schedule], bool]) -> Callable[[Sequence[str], ToldRace], bool]:
    return lambda names, told: passes_over(race(tuple(names), told, PAUSE_AFTER))


def _reason(search: StateSearch, options: Options, max_memory: int, stopped: str | None) -> str | None:
    """Why the search did not cover everything, or it does not count; None if it did, or found a bug."""
    if search.finished() and search.stops_everywhere() and search.bug() is None:
        return VACUOUS
    if search.finished():
        return None if options.reduction != "unsound" else "the unsound reduction can miss bugs"
    if search.bug() is not None and not options.keep_going:
        return None  # what was stopped, if anything, is the search for a shorter way to the bug
    match search.limit():
        case "memory":
            return f"the memory limit of {format_size(max_memory)} was reached"
        case "states":
            return f"the limit of {options.max_states:,} states was reached"
        case "growth":
            return "something keeps growing"
    assert stopped is not None or search.limit_met() is not None, "the search ended for no reason"
    return stopped or BEYOND


def _covered(search: StateSearch, options: Options, seconds: float) -> States:
    visited, transitions, depth, deepest, memory, restarts, _ = search.progress()
    doubts = ("races", search.may_miss_races()), ("livelocks", search.may_miss_livelocks())
    return States(
        reduction=options.reduction,
        exact=options.exact,
        finished=search.finished(),
        visited=visited,
        transitions=transitions,
        depth=depth,
        deepest=deepest,
        memory=memory,
        restarts=restarts,
        per_second=visited / seconds,
        exhausted=search.limit() in ("memory", "growth"),
        races=options.races != "ignore",
        livelocks=not options.allow_livelock,
        covered_depth=search.covered_depth(),
        may_miss=tuple(what for what, doubtful in doubts if doubtful),
    )


def _outcome(search: StateSearch, states: States, reason: str | None, keep_going: bool) -> Outcome[States]:
    bug, limit, left = search.bug(), search.limit_met(), search.left()
    names = tuple(search.thread_names())

    def schedule(taken: Sequence[ToldStep]) -> Schedule:
        return running.schedule(names, taken, PAUSE_AFTER)

    # One at a time: they can be long.
    races = tuple(race(names, search.race(number), PAUSE_AFTER) for number in range(search.race_count()))
    found = None
    if bug is not None:
        found = Found(bug[3] or bug[0], schedule(bug[2]))
        if found.kind == "race":
            found = replace(found, schedule=next(each for each in races if each.steps == found.schedule.steps))
    first = 0 if found is not None and found.kind == "race" else 1
    others = [search.bug_at(number) for number in range(first, search.bug_count())] if keep_going else []
    return Outcome(
        states,
        bug=found,
        limit=Found(limit[0], schedule(limit[2])) if limit else None,
        reason=reason,
        races=races,
        others=tuple(Found(failure or kind, schedule(taken)) for kind, _, taken, failure in others),
        left=schedule(left) if left else None,
    )


def fits(lowered: Lowered) -> bool:
    """Whether the loops of a program go round as they are."""
    return not any(isinstance(at, Assume) and at.origin != "program" for _, at in lowered.origin)


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
