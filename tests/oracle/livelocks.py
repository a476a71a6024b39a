"""All states of a program with loops, what can be seen of them, and from which of them that never changes again.

That is what a livelock is: the program goes on for ever, whatever its threads do, and none of them ever writes anything
new or comes to an end. It is found here in the graph of all states of the program as it was written, in which loops go
round; no loop is known to wait, and nobody says that a thread spins.
"""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.machine.layout import address_of
from mazurka.program.instructions import Assume
from mazurka.program.program import Program
from tests.oracle.loop_generator import VARIABLES
from tests.oracle.oracle import Oracle, Outcome, StateGraph, is_idle, plain

_MUTEX = len(VARIABLES)  # where it is in the memory; the counter comes after it
# What can be seen of a state: the memory, and how far each thread is.
Sight = tuple[tuple[bytes, ...], tuple[str, ...]]


@dataclass(frozen=True)
class View:
    """A state as it is looked at: what can be seen; how it ended, if nothing can be done there; the threads that were
    stopped by an assume, and whether one of them was stopped by a bound; whether something else than a livelock is to
    blame if nothing changes any more: a failure, an assume, threads that wait for each other."""

    sight: Sight
    end: Outcome | None
    stopped: frozenset[int]
    bounded: bool
    excused: bool

    @property
    def lasting(self) -> Sight:
        """What can be seen, but for who holds the mutex and what the counter holds: threads that take something and
        give it back for ever do nothing."""
        memory, progresses = self.sight
        return (*memory[:_MUTEX], *memory[_MUTEX + 2 :]), progresses

    @property
    def uncounted(self) -> Sight:
        """What can be seen, but for what the counter holds: that may be less for a while."""
        memory, progresses = self.sight
        return (*memory[: _MUTEX + 1], *memory[_MUTEX + 2 :]), progresses


States = StateGraph[View]


def visit(program: Program, *, uninitialised: bool = True, limit: int = 4000) -> States:
    """All states of a program."""
    oracle = Oracle(program, uninitialised=uninitialised)
    machine, lowered = oracle.machine, oracle.lowered
    first = 1 + len(lowered.functions)  # objects are numbered: null, the functions, the globals
    names = [
        *VARIABLES,
        "mutex",
        "count",
        "array",
        "top",
        *(name for name in lowered.globals if name.startswith("result")),
    ]
    addresses = [address_of(0, first + lowered.globals.index(name)) for name in names]
    places = [(address, machine.describe(address).size) for address in addresses]

    def progress(thread: int) -> str:
        """How far a thread is. Steps that touch nothing, which nobody can prevent, are taken at once: an access to no
        object is no event, but with a guard it is a step, and so is a section that waits for nothing."""
        mark = machine.mark()
        for _ in range(10):
            following = machine.next(thread) if machine.status(thread) == "ready" else None
            if not following or not following.enabled or following.ranges or not is_idle(plain(following.accesses)):
                break
            machine.step(thread)
        status = machine.status(thread)
        if status == "failed":
            status += f" at {lowered.origin[machine.frames(thread)[0]][1].location}"
        machine.rewind(mark)
        return status if status.startswith(("failed", "ended")) else "on the way"

    def look(goes_on: bool) -> View:
        circle = oracle.circle()
        progresses = tuple(
            "waits in a circle" if thread in circle else progress(thread) for thread in machine.threads()
        )
        stopped = frozenset(t for t in machine.threads() if machine.status(t) == "stopped")
        assumes = [guard.origin for guard in oracle.guards().values() if isinstance(guard, Assume)]
        failed = any(machine.status(thread) == "failed" for thread in machine.threads())
        sight = tuple(machine.read(*place) for place in places), progresses
        end = None if goes_on else oracle.outcome()
        return View(sight, end, stopped, "bound" in assumes, bool(assumes or circle or failed))

    return oracle.states(look, limit)


def stuck(states: States) -> set[int]:
    """The states of an original program from which it goes on for ever, and nothing that can be seen ever changes but
    who holds the mutex and what the counter holds."""
    sources: list[list[int]] = [[] for _ in states.steps]
    alive = []
    for state, steps in enumerate(states.steps):
        view = states.observations[state]
        if view.end or view.excused:
            alive.append(state)
        for _, _, successor in steps:
            sources[successor].append(state)
            if states.observations[successor].lasting != view.lasting:
                alive.append(state)
    found = set(alive)
    while alive:
        for source in sources[alive.pop()]:
            if source not in found:
                found.add(source)
                alive.append(source)
    return set(range(len(states.steps))) - found


def is_finite(states: States) -> bool:
    """Whether no execution goes on for ever: there is no way back to an earlier state."""
    finished: set[int] = set()
    path = [(0, iter(states.steps[0]))]
    on_path = {0}
    while path:
        state, steps = path[-1]
        step = next(steps, None)
        if step is None:
            finished.add(state)
            on_path.remove(state)
            path.pop()
        elif step[2] in on_path:
            return False
        elif step[2] not in finished:
            on_path.add(step[2])
            path.append((step[2], iter(states.steps[step[2]])))
    return True


def bug_kinds(states: States) -> set[str]:
    """What can go wrong in a program as it was written."""
    kinds = {"livelock"} if stuck(states) else set()
    for view in states.observations:
        kinds |= {"failure"} if any(progress.startswith("failed") for progress in view.sight[1]) else set()
        waits = "waits in a circle" in view.sight[1] or (view.end and view.end.status == "deadlock")
        kinds |= {"deadlock"} if waits else set()
    return kinds
