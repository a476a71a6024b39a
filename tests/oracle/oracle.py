"""All executions of a small program, and the distinct happens-before graphs among them.

This shares nothing with the explorers but the machine: it has its own enumeration, its own notion of dependence and
its own representation of an execution. It is slow, and meant to be obviously right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mazurka import _native
from mazurka.program.instructions import Await
from mazurka.program.program import Program
from mazurka.transforms.lowering import Lowered, lower

# An access as (address, size, reads, writes, commuting operation or None).
Access = tuple[int, int, bool, bool, str | None]
# An event's name: the thread, and how many events of it came before.
EventName = tuple[str, int]
# A step to take: the thread's number, and its choices.
Step = tuple[int, tuple[int, ...]]


class TooLarge(Exception):
    """The program has more executions than the oracle is willing to look at."""


@dataclass(frozen=True)
class Event:
    thread: str
    index: int
    choices: tuple[int, ...]
    accesses: tuple[Access, ...]

    @property
    def name(self) -> EventName:
        return self.thread, self.index


# An event together with the earlier events of other threads that it depends on; a set of them is an execution up to
# equivalence: which events happened, and in which order the dependent ones.
Node = tuple[Event, frozenset[EventName]]
Graph = frozenset[Node]


@dataclass(frozen=True)
class Outcome:
    """How a maximal execution ended: "complete", "blocked" (by an assume), "deadlock" or "failed", and the kinds of
    the failures."""

    status: str
    failure: str | None = None


def conflict(one: Access, other: Access, commute: bool) -> bool:
    (address, size, _, writes, operation), (address2, size2, _, writes2, operation2) = one, other
    overlapping = max(address, address2) < min(address + size, address2 + size2)
    commuting = commute and operation is not None and (address, size, operation) == (address2, size2, operation2)
    return overlapping and (writes or writes2) and not commuting


def dependent(one: Event, other: Event, commute: bool = True) -> bool:
    return one.thread == other.thread or any(conflict(x, y, commute) for x in one.accesses for y in other.accesses)


class Oracle:
    """Walks through the executions of a program."""

    def __init__(self, program: Program | Lowered, *, commute: bool = True) -> None:
        self.lowered = lower(program) if isinstance(program, Program) else program
        self.commute = commute
        self.machine = _native.Machine(self.lowered.code, instruction_limit=10_000)
        self.start = self.machine.mark()

    # ------------------------------------------------------------------------------------ single steps

    def enabled(self) -> list[Step]:
        """Every step that some thread can take now, as thread and choices."""
        machine = self.machine
        if machine.exited():
            return []
        steps = []
        for thread in machine.threads():
            if machine.status(thread) != "ready":
                continue
            pending: list[tuple[int, ...]] = [()]
            while pending:
                choices = pending.pop()
                following = machine.next(thread, choices)
                if len(following.ranges) > len(choices):
                    # One more choice to make: all of its values, in all further ways.
                    pending.extend((*choices, value) for value in range(following.ranges[len(choices)]))
                elif following.enabled:
                    steps.append((thread, choices))
        return steps

    def take(self, thread: int, choices: tuple[int, ...], past: list[Event]) -> Event:
        return self.event(thread, choices, past, self.machine.step(thread, choices))

    def promise(self, thread: int, choices: tuple[int, ...], past: list[Event]) -> Event:
        """The event that a step would be, without taking it."""
        return self.event(thread, choices, past, self.machine.next(thread, choices).accesses)

    def event(self, thread: int, choices: tuple[int, ...], past: list[Event], accesses: list[_native.Access]) -> Event:
        name = self.machine.thread_name(thread)
        index = sum(event.thread == name for event in past)
        touched = tuple((a.address, a.size, a.reads, a.writes, a.commuting) for a in accesses)
        return Event(name, index, choices, touched)

    def outcome(self) -> Outcome:
        """How the execution ended that led to the present state, in which nothing is enabled."""
        machine = self.machine
        failure = machine.failure()
        kind = failure.kind if failure else None
        if machine.exited():
            return Outcome("failed" if failure else "complete", kind)
        ready = [thread for thread in machine.threads() if machine.status(thread) == "ready"]
        waiting = {thread: machine.next(thread).waiting for thread in ready}
        stopped = any(machine.status(thread) == "stopped" for thread in machine.threads())
        if not ready and not stopped:
            return Outcome("failed" if failure else "complete", kind)
        holders = {
            thread: machine.describe(guard.holder).owner
            for thread, guard in waiting.items()
            if guard is not None and isinstance(self.lowered.origin[guard.pc][1], Await)
        }
        if not stopped and len(holders) == len(ready):
            return Outcome("deadlock", kind)
        # Whatever is assumed of the others, threads can wait for each other in a circle.
        for start in holders:
            thread = holders[start]
            for _ in holders:
                if thread == start:
                    return Outcome("blocked", "deadlock")
                thread = holders.get(thread, 0)
        return Outcome("blocked", kind)

    def node(self, event: Event, past: list[Event]) -> Node:
        before = (other for other in past if other.thread != event.thread and dependent(other, event, self.commute))
        return event, frozenset(other.name for other in before)

    # ------------------------------------------------------------------------------------ enumerations

    def interleavings(self, limit: int = 50_000) -> Iterator[tuple[list[Event], Outcome]]:
        """Every maximal execution, step by step, with no reduction whatsoever."""
        self.machine.rewind(self.start)
        past: list[Event] = []
        seen = 0

        def walk() -> Iterator[tuple[list[Event], Outcome]]:
            nonlocal seen
            steps = self.enabled()
            if not steps:
                seen += 1
                if seen > limit:
                    raise TooLarge
                yield list(past), self.outcome()
            for thread, choices in steps:
                mark = self.machine.mark()
                past.append(self.take(thread, choices, past))
                yield from walk()
                past.pop()
                self.machine.rewind(mark)

        yield from walk()

    def graph(self, execution: list[Event]) -> Graph:
        """An execution up to equivalence."""
        return frozenset(self.node(event, execution[:position]) for position, event in enumerate(execution))

    def graph_of(self, schedule: list[tuple[str, tuple[int, ...]]]) -> Graph:
        """The graph of the execution that a schedule leads to, which must be maximal."""
        self.machine.rewind(self.start)
        past: list[Event] = []
        for name, choices in schedule:
            numbers = {self.machine.thread_name(thread): thread for thread in self.machine.threads()}
            past.append(self.take(numbers[name], choices, past))
        assert not self.enabled()
        return self.graph(past)

    def traces(self, limit: int = 20_000) -> dict[Graph, Outcome]:
        """The distinct happens-before graphs of all maximal executions. Executions that are equivalent so far are
        followed only once: they are in the same state (which other tests check)."""
        self.machine.rewind(self.start)
        found: dict[Graph, Outcome] = {}
        visited: set[Graph] = set()
        past: list[Event] = []

        def walk(graph: Graph) -> None:
            if graph in visited:
                return
            visited.add(graph)
            if len(visited) > limit:
                raise TooLarge
            steps = self.enabled()
            if not steps:
                found[graph] = self.outcome()
            for thread, choices in steps:
                mark = self.machine.mark()
                event = self.take(thread, choices, past)
                node = self.node(event, past)
                past.append(event)
                walk(graph | {node})
                past.pop()
                self.machine.rewind(mark)

        walk(frozenset())
        return found
