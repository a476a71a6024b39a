"""All data races of a small program: all pairs of accesses, in all states that it can get into.

This shares nothing with the detector but the machine, and of that only what it records: operations with their values.
What the detector does with clocks, along one execution of each class, is done here with sets, along all of them: each
thread, and what each write leaves behind for those who acquire it, *knows* accesses, those that happen before it. Of
one access that a thread makes again and again, only the latest time matters: whoever knows of that one knows of them
all. So there are finitely many things to know, and all states together with what is known in them can be visited, even
if loops go round for ever.

The rules are those of C, as docs/exploration.md has them: program order, creating and joining threads, and reading with
an acquire what a release wrote, or an unbroken chain of updates after it. A release fence makes all atomic writes of
its thread that follow release what was known there; an acquire fence acquires whatever its thread has read before. An
atomic section acquires and releases as one. An access that waits is made again and again for as long as it waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from mazurka import _native
from mazurka.machine.layout import THREAD_DONE
from mazurka.machine.lowering import lower
from mazurka.program.instructions import AtomicBegin, CompareExchange, Fence, Free, Load, Store, Update
from mazurka.program.program import Program
from tests.oracle.oracle import INSTRUCTION_LIMIT, Step, TooLarge
from tests.oracle.states import enabled

ACQUIRING = ("acquire", "acq_rel", "seq_cst")
# The order of a compare-exchange that fails, if it is not said.
_READING = {
    "relaxed": "relaxed",
    "release": "relaxed",
    "acquire": "acquire",
    "acq_rel": "acquire",
    "seq_cst": "seq_cst",
}
RELEASING = ("release", "acq_rel", "seq_cst")

# Where a thread stands before a step: the positions in the code of the innermost call and of the one around it.
Site = tuple[int, ...]


@dataclass(frozen=True)
class Access:
    """What one thread does at one place in the code to some bytes. `atomic`: it cannot race with its like."""

    thread: int
    site: Site  # of the event that it belongs to
    position: int  # in the code, of itself
    address: int
    size: int
    reads: bool
    writes: bool
    ordering: str

    @property
    def atomic(self) -> bool:
        return self.ordering != "plain"

    def races(self, other: Access) -> bool:
        """Whether this is a data race with an access that is not ordered with it."""
        overlap = self.address < other.address + other.size and other.address < self.address + self.size
        conflict = overlap and (self.writes or other.writes) and self.thread != other.thread
        return conflict and not (self.atomic and other.atomic)


Known = frozenset[Access]
Race = tuple[Access, Access]  # the one that came first, in some execution, and the other


@dataclass
class Knowledge:
    """Who knows of which accesses. `made` are all that were made so far; `left` is what whoever acquires a byte gets to
    know."""

    made: set[Access] = field(default_factory=set)
    known: dict[int, Known] = field(default_factory=dict)  # by each thread
    left: dict[int, Known] = field(default_factory=dict)  # by the last write to each byte
    fenced: dict[int, Known] = field(default_factory=dict)  # by each thread at its last release fence
    found: dict[int, Known] = field(default_factory=dict)  # by each thread, in what it read, if it had acquired it

    def copy(self) -> Knowledge:
        return Knowledge(set(self.made), *map(dict, self.kept()))

    def kept(self) -> tuple[dict[int, Known], ...]:
        return self.known, self.left, self.fenced, self.found

    def key(self) -> tuple[object, ...]:
        return frozenset(self.made), *(frozenset(each.items()) for each in self.kept())

    def create(self, parent: int, child: int) -> None:
        self.known[child] = self.known.get(parent, frozenset())
        self.fenced[child] = self.found[child] = frozenset()

    def fence(self, thread: int, ordering: str) -> None:
        if ordering in ACQUIRING:
            self.known[thread] = self.known.get(thread, frozenset()) | self.found.get(thread, frozenset())
        if ordering in RELEASING:
            self.fenced[thread] = self.known.get(thread, frozenset())

    def happen(self, thread: int, accesses: Sequence[Access]) -> Iterator[Race]:
        """These accesses are made, at once. The races are those with what the thread does not know of by then."""
        known, found = self.known.get(thread, frozenset()), self.found.get(thread, frozenset())
        for access in accesses:
            if access.reads and access.atomic:
                found = found.union(*(self.left.get(byte, frozenset()) for byte in _bytes(access)))
            if access.reads and access.ordering in ACQUIRING:
                known = known.union(*(self.left.get(byte, frozenset()) for byte in _bytes(access)))
        self.found[thread] = found
        for access, earlier in product(accesses, self.made - known):
            if access.races(earlier):
                yield earlier, access

        # The latest time is a new one: nobody else knows of it.
        new = frozenset(accesses)
        self.made |= new
        for kept in self.kept():
            for key, others in kept.items():
                kept[key] = others - new
        self.known[thread] = known | new
        for access in accesses:
            if access.writes:
                released: Known = frozenset()
                if access.ordering in RELEASING:
                    released = self.known[thread]
                elif access.atomic:
                    released = self.fenced.get(thread, frozenset())
                updates = access.reads and access.atomic
                for byte in _bytes(access):
                    self.left[byte] = (self.left.get(byte, frozenset()) if updates else frozenset()) | released


def _bytes(access: Access) -> range:
    return range(access.address, access.address + access.size)


class Races:
    """Visits all states of a program, together with what is known in them, and collects the races."""

    def __init__(self, program: Program, *, uninitialised: bool = True) -> None:
        self.lowered = lowered = lower(program)
        self.machine = _native.Machine(
            lowered.code, uninitialised=uninitialised, record=True, instruction_limit=INSTRUCTION_LIMIT
        )
        self.found: set[Race] = set()

    def find(self, limit: int = 20_000) -> set[Race]:
        machine = self.machine
        seen: set[tuple[object, ...]] = set()
        # The states on the way to the present one: their marks, what is known there, the steps still to be taken.
        path: list[tuple[int, Knowledge, list[tuple[bool, Step]]]] = []

        def arrive(knowledge: Knowledge) -> None:
            key = machine.state(), *knowledge.key()
            if key not in seen:
                if len(seen) == limit:
                    raise TooLarge
                seen.add(key)
                rounds = [(True, (thread, ())) for thread in self.waiting()]
                path.append((machine.mark(), knowledge, rounds + [(False, step) for step in enabled(machine)]))
            machine.operations()  # (looking ahead leaves nothing behind that belongs to a step)

        start = Knowledge()
        self.note(start, 1, (), machine.operations())
        arrive(start)
        while path:
            mark, knowledge, remaining = path[-1]
            if not remaining:
                path.pop()
                continue
            machine.rewind(mark)
            waits, (thread, choices) = remaining.pop()
            site = tuple(machine.frames(thread)[:2])
            knowledge = knowledge.copy()
            executed = machine.instructions_executed()
            if waits:
                machine.go_round(thread)
            else:
                machine.step(thread, choices)
            if machine.instructions_executed() - executed > INSTRUCTION_LIMIT:
                raise TooLarge
            self.note(knowledge, thread, site, machine.operations())
            if waits:
                machine.rewind(mark)  # it comes back to where it was
            arrive(knowledge)
        return self.found

    def waiting(self) -> Iterator[int]:
        """The threads that stay in an access that was a loop: it is made again and again meanwhile."""
        machine = self.machine
        for thread in [] if machine.exited() else machine.threads():
            if machine.status(thread) == "ready":
                instruction = self.lowered.origin[machine.frames(thread)[0]][1]
                guarded = isinstance(instruction, AtomicBegin) and instruction.guarded
                if guarded and not machine.next(thread).enabled:
                    yield thread

    def note(self, knowledge: Knowledge, thread: int, site: Site, operations: Sequence[_native.Operation]) -> None:
        """What a step does, in order; what others can see of it is one event, at its beginning."""
        section = guarded = False
        event: list[Access] = []
        for operation in operations:
            instruction = self.lowered.origin[operation.frames[0]][1]
            if operation.kind == "section":
                section, guarded = True, isinstance(instruction, AtomicBegin) and instruction.guarded
            elif (access := self.access(operation, site, section and not guarded)) and operation.visible | section:
                event.append(access)
        self.found.update(knowledge.happen(thread, event))
        for operation in operations:
            instruction = self.lowered.origin[operation.frames[0]][1]
            if operation.kind == "spawn":
                knowledge.create(operation.thread, self.machine.describe(operation.address).owner)
            elif isinstance(instruction, Fence):
                knowledge.fence(operation.thread, instruction.ordering)
            elif not section and not operation.visible and (access := self.access(operation, site, False)):
                self.found.update(knowledge.happen(thread, [access]))

    def access(self, operation: _native.Operation, site: Site, atomic: bool) -> Access | None:
        """What an operation does to memory. `atomic`: it is in a section that is more than one access."""
        instruction = self.lowered.origin[operation.frames[0]][1]
        thread, position, address, size = operation.thread, operation.frames[0], operation.address, operation.size
        if operation.kind == "end":
            return Access(thread, site, position, address + THREAD_DONE, 4, False, True, "release")
        if operation.kind == "fail":
            # An access to what is no longer there is one; to what never was, there is none.
            place = self.machine.describe(address)
            if place.alive or not place.base <= address <= address + size <= place.base + place.size:
                return None
        match instruction:
            case Load():
                reads, writes = True, False
            case Store() | Free():
                reads, writes = False, True
            case Update():
                reads, writes = True, True
            case CompareExchange():
                reads, writes = True, operation.written is not None
            case _:
                return None
        if isinstance(instruction, Free):
            ordering = "plain"
        elif atomic:
            ordering = "seq_cst"
        elif isinstance(instruction, CompareExchange) and not writes:
            ordering = instruction.failure or _READING[instruction.ordering]
        else:
            ordering = instruction.ordering
        return Access(thread, site, position, address, max(size, 1), reads, writes, ordering)
