"""Which events of a schedule must wait for which, and what each of them really has to touch.

Level 0 orders all events. Level 1 orders only events that touch the same word, one of them writing, and leaves alone
the words of mutexes and the like that the schedule makes redundant. Level 2 tells the elements of an array apart where
their indices are known, and *redirects* loads and stores:

- a load whose value is known to be always the same gets it from a table;
- what a store writes goes to a cell of its own, from which the loads in the same unit get it that come before the next
  store; only the last store of a unit goes to memory, and only loads before the first or after the last one read it.

So a load gets the value that it gets when the events happen one after the other as the schedule says: of the store
before it or, if there is none in its unit, of memory, which is then as the unit before has left it. Two stores to
different cells need no order, and neither do a load and a later store: only a load waits for its store. The cells of a
unit are used again only when all events of the unit are over: units take turns with two sets of cells, and a unit
begins when the one before the last is over.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from mazurka.constrained.enforce.points import Points
from mazurka.constrained.enforce.units import Unit, UnitEvent
from mazurka.constrained.model import Location, Model, SharedAccess, StateVariable, Transition
from mazurka.frontends.c.roles import operations
from mazurka.machine.layout import ADDRESS_BITS, OFFSET_BITS

# Operations that only make threads wait for each other. What they give is known: 0, or whether it is the last thread.
_REDUNDANT = operations("lock", "unlock", "wait", "wake", of=["spinlock", "semaphore", "condition", "barrier"])
# The same, but they can also tell that they were misused. If nobody looks at what they give, that does not matter.
_TELLING = operations("lock", "unlock", of=["mutex", "rwlock"])
# These make or end such an object; nobody looks at it any more.
_HARMLESS = operations("init", "destroy", of=["mutex", "condition", "barrier"])


@dataclass(frozen=True, slots=True)
class Touch:
    """A word that an event reads or writes natively: of memory, or a cell of its unit."""

    word: Hashable
    writes: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """Where a load or a store is redirected to: a cell that a thread writes; with the number -1, what it writes for
    nobody; and without a thread, the constant `number`."""

    thread: int | None
    number: int


@dataclass(slots=True)
class Plan:
    """What the events of a unit touch, in their order, and where those that are redirected go."""

    touches: list[tuple[Touch, ...]]
    cells: dict[int, Cell] = field(default_factory=dict)

    def is_free(self, number: int) -> bool:
        """Whether an event touches nothing that others touch."""
        return self.touches[number] == (_PROCESS,)


def redundant_variables(model: Model, points: Points) -> frozenset[StateVariable]:
    """The words of mutexes, barriers and the like at which only operations look that the schedule makes redundant.

    Such an operation is done when its turn has come, and what it gives is known. Leaving it out leaves its words alone,
    which nobody else looks at: it depends on nothing any more. All other accesses happen in an order that is equivalent
    to the schedule's, so every thread reads what it would have read."""
    touched = [
        (_is_redundant(transition.source, points), _variables(transition))
        for transition in model.transitions
        if points.operation(transition.source) not in _HARMLESS
    ]
    kept: set[StateVariable] = set()
    while True:
        before = len(kept)
        for redundant, variables in touched:
            if not redundant or variables & kept:
                kept |= variables
        if len(kept) == before:
            return frozenset(model.variables.values()) - kept


def _is_redundant(location: Location, points: Points) -> bool:
    operation = points.operation(location)
    if operation in _TELLING:
        return location.point is not None and location.point.line in points.code.unused
    return operation in _REDUNDANT


def _variables(transition: Transition) -> set[StateVariable]:
    return {access.variable for access in transition.accesses}


# All events touch this; the end of the program writes it.
_PROCESS = Touch("process", False)


class Ordering:
    """What events touch, at a level of optimisation."""

    def __init__(self, model: Model, units: Iterable[Unit], points: Points, level: int) -> None:
        self._points = points
        self._level = level
        self._ignored: frozenset[StateVariable] = redundant_variables(model, points) if level >= 1 else frozenset()
        self._undivided = {
            access.variable
            for unit in units
            for event in unit.events
            for access, index in zip(event.accesses, event.indices, strict=True)
            if access.variable.is_array and index is None
        }

    def omits(self, event: UnitEvent) -> bool:
        """Whether an operation of the library need not be executed."""
        touched = {access.variable for access in event.accesses}
        return _is_redundant(event.location, self._points) and touched <= self._ignored

    def plan(self, unit: Unit) -> Plan:
        plan = Plan([self._memory(event) for event in unit.events])
        if self._level >= 2:
            words = [self._redirectable(event) for event in unit.events]
            if unit.decides:
                words[0] = None
            _redirect(plan, unit, words)
        return plan

    def _memory(self, event: UnitEvent) -> tuple[Touch, ...]:
        if self._level == 0:
            return (Touch("everything", True),)
        is_exit = any(transition.target.rest == "exit" for transition in event.transitions)
        touches = [Touch("process", True) if is_exit else _PROCESS]
        for access, index in zip(event.accesses, event.indices, strict=True):
            if access.variable not in self._ignored:
                touches.append(Touch(self._word(access, index), access.writes))
        if prints(event, self._points):
            touches.append(Touch("output", True))
        return tuple(touches)

    def _word(self, access: SharedAccess, index: int | None) -> Hashable:
        divided = self._level >= 2 and access.variable not in self._undivided
        return access.variable, index if divided else None

    def _redirectable(self, event: UnitEvent) -> _Single | None:
        """The single word of at most 64 bits that an instruction loads or stores, if that is what it does for sure."""
        point = event.location.point
        if point is None or point.line not in self._points.code.certain or event.location in self._points.passed:
            return None
        if self._points.kind(event.location) not in ("load", "store"):
            return None
        accesses = [pair for pair in zip(event.accesses, event.indices, strict=True) if is_word(pair[0])]
        if len(accesses) != 1 or prints(event, self._points):
            return None
        ((access, index),) = accesses
        variable = access.variable
        if access.reads == access.writes or variable.term.width > 64 or variable in self._undivided:
            return None
        return _Single(self._word(access, index), variable, access.writes)


@dataclass(frozen=True, slots=True)
class _Single:
    """The word that a load or a store touches."""

    word: Hashable
    variable: StateVariable
    writes: bool


def prints(event: UnitEvent, points: Points) -> bool:
    """Whether its thread can print something between an event and its next one."""
    return any(points.prints(transition) for transition in event.transitions)


def is_word(access: SharedAccess) -> bool:
    """Whether it is memory that is touched; else it is what the model knows about it (whether it still exists, ...)."""
    return access.variable.address is not None


def _is_number(value: int | None, variable: StateVariable) -> TypeGuard[int]:
    """Whether a value is known and the same in the native program: addresses are others there."""
    return value is not None and (variable.term.width < 64 or not 1 << OFFSET_BITS <= value < 1 << ADDRESS_BITS)


def _redirect(plan: Plan, unit: Unit, words: Sequence[_Single | None]) -> None:
    accesses: dict[Hashable, list[int]] = {}
    fixed: set[Hashable] = set()  # words that something else than a load or a store touches
    for number, event in enumerate(unit.events):
        single = words[number]
        if single is None:
            fixed.update(touch.word for touch in plan.touches[number])
            continue
        value = event.values.get(single.variable)
        if not single.writes and _is_number(value, single.variable):
            plan.cells[number] = Cell(None, value)
            plan.touches[number] = (_PROCESS,)
        else:
            accesses.setdefault(single.word, []).append(number)
    used: dict[int, int] = {}  # cells of each thread
    for word, numbers in accesses.items():
        if word in fixed:
            continue
        stores = {number for number in numbers if (single := words[number]) and single.writes}
        last = max(stores, default=None)
        source: int | None = None
        for number in numbers:
            if number in stores:
                source = number
                if number != last:
                    plan.cells[number] = Cell(unit.events[number].thread, -1)
                    plan.touches[number] = (_PROCESS,)
            elif source is not None and source != last:
                writer = unit.events[source].thread
                if plan.cells[source].number < 0:
                    plan.cells[source] = Cell(writer, used.get(writer, 0))
                    used[writer] = used.get(writer, 0) + 1
                    plan.touches[source] = (_PROCESS, Touch(plan.cells[source], True))
                plan.cells[number] = plan.cells[source]
                plan.touches[number] = (_PROCESS, Touch(plan.cells[source], False))


# ---------------------------------------------------------------------------------------------- waiting

# For an event, the clocks of other threads to wait for, counted from the beginning of its unit.
Waits = list[tuple[int, int]]


def find_waits(
    previous: Sequence[tuple[int, tuple[Touch, ...]]], events: Sequence[tuple[int, tuple[Touch, ...]]], threads: int
) -> list[Waits]:
    """What each event of a unit waits for: events of its unit and of the one before it (given by their threads and what
    they touch). What follows from other waits is left out."""
    clocks = [-sum(1 for thread, _ in previous if thread == number) for number in range(threads)]
    known = [list(clocks) for _ in range(threads)]  # by thread: the clocks that it has seen
    seen_after: dict[tuple[int, int], list[int]] = {}  # by thread and clock
    writers: dict[Hashable, tuple[int, int]] = {}
    readers: dict[Hashable, dict[int, int]] = {}
    result: list[Waits] = []
    for part, sequence in enumerate((previous, events)):
        for thread, touches in sequence:
            before: dict[int, int] = {}
            for touch in touches:
                word = _in_part(touch.word, part)
                earlier = [writers[word]] if word in writers else []
                if touch.writes:
                    earlier += readers.get(word, {}).items()
                for other, clock in earlier:
                    if other != thread and clock > known[thread][other]:
                        before[other] = max(before.get(other, clock), clock)
            needed = _needed(before, seen_after)
            for event in needed:
                known[thread] = list(map(max, known[thread], seen_after[event]))
            clocks[thread] += 1
            known[thread][thread] = clocks[thread]
            seen_after[thread, clocks[thread]] = list(known[thread])
            for touch in touches:
                word = _in_part(touch.word, part)
                if touch.writes:
                    writers[word] = (thread, clocks[thread])
                    readers.pop(word, None)
                else:
                    readers.setdefault(word, {})[thread] = clocks[thread]
            if part == 1:
                result.append(needed)
    return result


def _in_part(word: Hashable, part: int) -> Hashable:
    """Cells of one unit are others than those of the next."""
    return (part, word) if isinstance(word, Cell) else word


def _needed(before: Mapping[int, int], seen_after: Mapping[tuple[int, int], Sequence[int]]) -> Waits:
    """Those of the events that no other one comes after."""
    return [
        (thread, clock)
        for thread, clock in before.items()
        if not any(other != thread and seen_after[other, others][thread] >= clock for other, others in before.items())
    ]
