"""All states of a small program, with no reduction: the judge of the stateful search.

This shares nothing with the search but the machine. It is slow, and meant to be obviously right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mazurka import _native
from mazurka.machine.lowering import Lowered
from mazurka.program.instructions import Await
from tests.oracle.oracle import Step, TooLarge

# ("failure", (fault, thread, position, its caller's position, ...)) or ("deadlock", ((thread, position), ...)), as the
# search tells them: the threads by name, the positions of their awaits.
Bug = tuple[str, tuple[object, ...]]


@dataclass(frozen=True)
class Reached:
    """What a program comes to: its states, and what is wrong in them or on the way."""

    states: set[bytes]
    bugs: set[Bug]


def reach(
    lowered: Lowered,
    *,
    look: Callable[[_native.Machine], bytes] = _native.Machine.canonical,
    pause_after: int = 10_000,
    limit: int = 20_000,
) -> Reached:
    """Every state of a program. `look` says which of them are the same: those with equal `canonical` states, unless
    told otherwise."""
    machine = _native.Machine(lowered.code, pause_after=pause_after, follow_pointers=True)
    start = machine.mark()
    while True:
        addresses_matter = machine.addresses_matter()
        reached = _reach(machine, lowered, look, limit)
        # If the program turns out to look at addresses as at numbers, more states are different.
        if machine.addresses_matter() == addresses_matter:
            return reached
        machine.rewind(start)


def _reach(machine: _native.Machine, lowered: Lowered, look: Callable[[_native.Machine], bytes], limit: int) -> Reached:
    reached = Reached(set(), set())
    path: list[tuple[int, list[Step]]] = []  # marks of the states on the way, and the steps still to be taken there

    def arrive() -> None:
        if failed := failure(machine):
            reached.bugs.update(failed)  # and that was the end
        elif (state := look(machine)) not in reached.states:
            if len(reached.states) == limit:
                raise TooLarge
            reached.states.add(state)
            reached.bugs.update(deadlocks(machine, lowered))
            path.append((machine.mark(), list(enabled(machine))))

    arrive()
    while path:
        mark, remaining = path[-1]
        if remaining:
            machine.rewind(mark)
            machine.step(*remaining.pop())
            arrive()
        else:
            path.pop()
    return reached


def enabled(machine: _native.Machine) -> Iterator[Step]:
    """Every step that some thread can take now, as thread and choices."""
    for thread in [] if machine.exited() else machine.threads():
        pending: list[tuple[int, ...]] = [()] if machine.status(thread) == "ready" else []
        while pending:
            choices = pending.pop()
            following = machine.next(thread, choices)
            if len(following.ranges) > len(choices):
                # One more choice to make: all of its values, in all further ways.
                pending.extend((*choices, value) for value in range(following.ranges[len(choices)]))
            elif following.enabled:
                yield thread, choices


def failure(machine: _native.Machine) -> set[Bug]:
    """What has failed, if anything."""
    found = machine.failure()
    return {("failure", (found.fault, machine.thread_name(found.thread), *found.frames))} if found else set()


def deadlocks(machine: _native.Machine, lowered: Lowered) -> set[Bug]:
    """Threads that wait for each other in a circle, and all threads, if each of them has ended or waits. Whom a thread
    waits for that can choose is not clear."""
    if machine.exited():
        return set()
    waiting: dict[int, _native.Waiting] = {}
    clearly: dict[int, _native.Waiting] = {}
    for thread in set(machine.threads()) - {thread for thread, _ in enabled(machine)}:
        following = machine.next(thread)
        if following.waiting and isinstance(lowered.origin[following.waiting.pc][1], Await):
            waiting[thread] = following.waiting
            if not following.ranges:
                clearly[thread] = following.waiting

    def deadlock(threads: set[int]) -> Bug:
        return "deadlock", tuple(sorted((machine.thread_name(thread), waiting[thread].pc) for thread in threads))

    found = {deadlock(circle) for thread in clearly if (circle := _circle(thread, clearly, machine))}
    others = set(machine.threads()) - waiting.keys()
    if waiting and all(machine.status(thread) == "ended" for thread in others):  # (and not "returned")
        found.add(deadlock(set(waiting)))
    return found


def _circle(start: int, waiting: dict[int, _native.Waiting], machine: _native.Machine) -> set[int]:
    """The threads that a thread waits for, directly or not, if it is one of them."""
    circle: set[int] = set()
    thread = start
    while thread in waiting and thread not in circle:
        circle.add(thread)
        thread = machine.describe(waiting[thread].holder).owner
    return circle if thread == start else set()
