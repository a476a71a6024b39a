"""All executions of a small program, and the distinct happens-before graphs among them.

This shares nothing with the explorers but the machine: it has its own enumeration, its own notion of dependence and
its own representation of an execution. It is slow, and meant to be obviously right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from mazurka import _native
from mazurka.machine.layout import OFFSET_BITS, THREAD_BLOCK_SIZE
from mazurka.machine.lowering import Lowered, lower
from mazurka.program.instructions import Assume, Await, Instruction
from mazurka.program.program import Program

# An access as (address, size, reads, writes, commuting operation or None).
Access = tuple[int, int, bool, bool, str | None]
# An event's name: the thread, and how many events of it came before.
EventName = tuple[str, int]
# A step to take: the thread's number, and its choices.
Step = tuple[int, tuple[int, ...]]


INSTRUCTION_LIMIT = 10_000  # in one step

Observation = TypeVar("Observation")


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
    """How a maximal execution ended: "complete", "blocked" (by an assume), "deadlock" or "failed", and the kind of
    the failure, if any; an execution that is blocked can fail by "deadlock" or "livelock", too."""

    status: str
    failure: str | None = None


@dataclass(frozen=True)
class StateGraph(Generic[Observation]):
    """All states that can be reached, the first one first: what is seen of each, and the steps from there, with what
    they touch and where they lead."""

    observations: list[Observation]
    steps: list[list[tuple[Step, tuple[Access, ...], int]]]


def conflict(one: Access, other: Access, commute: bool) -> bool:
    (address, size, _, writes, operation), (address2, size2, _, writes2, operation2) = one, other
    overlapping = max(address, address2) < min(address + size, address2 + size2)
    commuting = commute and operation is not None and (address, size, operation) == (address2, size2, operation2)
    return overlapping and (writes or writes2) and not commuting


def dependent(one: Event, other: Event, commute: bool = True) -> bool:
    return one.thread == other.thread or any(conflict(x, y, commute) for x in one.accesses for y in other.accesses)


def is_idle(accesses: Sequence[Access]) -> bool:
    """Whether a step touches nothing but the byte that stands for the process."""
    place = (THREAD_BLOCK_SIZE - 1, 1, False)
    return all((address % 2**OFFSET_BITS, size, writes) == place for address, size, _, writes, _ in accesses)


def plain(accesses: list[_native.Access]) -> tuple[Access, ...]:
    return tuple((a.address, a.size, a.reads, a.writes, a.commuting) for a in accesses)


class Oracle:
    """Walks through the executions of a program."""

    def __init__(
        self, program: Program | Lowered, *, commute: bool = True, uninitialised: bool = True, record: bool = False
    ) -> None:
        self.lowered = lower(program) if isinstance(program, Program) else program
        self.commute = commute
        self.machine = _native.Machine(
            self.lowered.code, uninitialised=uninitialised, record=record, instruction_limit=INSTRUCTION_LIMIT
        )
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
        return Event(name, index, choices, plain(accesses))

    def outcome(self) -> Outcome:
        """How the execution ended that led to the present state, in which nothing is enabled."""
        machine = self.machine
        failure = machine.failure()
        kind = failure.kind if failure else None
        if sum(machine.status(thread) == "failed" for thread in machine.threads()) > 1:
            kind = "several"  # which comes first may differ
        if machine.exited():
            return Outcome("failed" if failure else "complete", kind)
        guards = self.guards()
        if not guards:
            return Outcome("failed" if failure else "complete", kind)
        returned = any(machine.status(thread) == "returned" for thread in machine.threads())
        if all(isinstance(guard, Await) for guard in guards.values()):
            # The process has ended, unless some were in a deadlock before that could happen.
            return Outcome("complete", kind) if returned and not self.circle() else Outcome("deadlock", kind)
        # Whatever is assumed of the others, threads can wait for each other in a circle.
        if self.circle():
            return Outcome("blocked", kind or "deadlock")
        loops = [thread for thread, guard in guards.items() if isinstance(guard, Assume) and guard.origin == "loop"]
        resources = [thread for thread, guard in guards.items() if isinstance(guard, Await)]
        if not returned and len(loops) + len(resources) == len(guards) and all(map(machine.spins, loops)):
            return Outcome("blocked", kind or "livelock")
        return Outcome("blocked", kind)

    def guards(self) -> dict[int, Instruction | None]:
        """The threads that cannot go on, and what holds them up: an assume, an await, or that there is nothing to
        choose."""
        machine, origin = self.machine, self.lowered.origin
        guards: dict[int, Instruction | None] = {}
        for thread in machine.threads():
            if machine.status(thread) == "stopped":
                guards[thread] = origin[machine.frames(thread)[0]][1]
            elif machine.status(thread) == "ready":
                following = machine.next(thread)
                if not following.enabled:
                    guards[thread] = origin[following.waiting.pc][1] if following.waiting else None
        return guards

    def circle(self) -> set[int]:
        """The threads that wait for each other to release something, in a circle."""
        machine, holders = self.machine, {}
        for thread, guard in self.guards().items():
            if isinstance(guard, Await):
                waiting = machine.next(thread).waiting
                assert waiting is not None
                holders[thread] = machine.describe(waiting.holder).owner
        found = set()
        for start in holders:
            thread = holders[start]
            for _ in holders:
                if thread == start:
                    found.add(start)
                thread = holders.get(thread, 0)
        return found

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

    def states(self, look: Callable[[bool], Observation], limit: int = 20_000) -> StateGraph[Observation]:
        """Every state that can be reached, by a search that remembers them: also if loops can go round for ever, unless
        they do so in one step. `look` says what is seen of the state that the machine is in, from which it can go on or
        not."""
        machine = self.machine
        machine.rewind(self.start)
        if machine.instructions_executed() > INSTRUCTION_LIMIT:
            raise TooLarge
        numbers: dict[bytes, int] = {}
        graph = StateGraph[Observation]([], [])
        # The states on the way to the present one: their numbers, marks, and the steps that are still to be taken.
        path: list[tuple[int, int, list[Step]]] = []

        def arrive() -> None:
            state = machine.state()
            if state not in numbers:
                if len(numbers) == limit:
                    raise TooLarge
                numbers[state] = len(numbers)
                steps = self.enabled()
                graph.observations.append(look(bool(steps)))
                graph.steps.append([])
                path.append((numbers[state], machine.mark(), steps))

        arrive()
        while path:
            number, mark, remaining = path[-1]
            if remaining:
                machine.rewind(mark)
                step = remaining.pop()
                executed = machine.instructions_executed()
                accesses = plain(machine.step(*step))
                if machine.instructions_executed() - executed > INSTRUCTION_LIMIT:
                    raise TooLarge
                successor = numbers.get(machine.state(), len(numbers))
                graph.steps[number].append((step, accesses, successor))
                arrive()
            else:
                path.pop()
        return graph

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
