"""Data races: which two accesses of two steps they are. That nothing orders the steps is what the search has found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from mazurka.executions.naming import Names
from mazurka.executions.positions import Source
from mazurka.program.instructions import AtomicBegin, CompareExchange, Free, Instruction, Load, Store, Update
from mazurka.result import RaceAccess

if TYPE_CHECKING:
    from mazurka._native import Operation


_ACCESSES = (Load, Store, Update, CompareExchange, Free)


@dataclass(frozen=True, slots=True)
class Racing:
    """Two accesses that race, what they touch, and where they are among the operations of their steps."""

    object: str
    first: RaceAccess
    second: RaceAccess
    indices: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Access:
    """An operation of a step, by its index, that is an access to shared memory."""

    index: int
    operation: Operation
    instruction: type[Instruction]
    atomic: bool

    @property
    def kind(self) -> str:
        if self.instruction is Free:
            return "free"
        reads = self.instruction is Load or (self.instruction is CompareExchange and self.operation.written is None)
        return "read" if reads else "write"

    @property
    def end(self) -> int:
        return self.operation.address + max(self.operation.size, 1)  # also an object without bytes can be freed

    def races(self, other: _Access) -> bool:
        overlap = self.operation.address < other.end and other.operation.address < self.end
        return overlap and (self.kind, other.kind) != ("read", "read") and not (self.atomic and other.atomic)

    def tell(self, source: Source, names: Names) -> RaceAccess:
        position = source.position(self.operation.frames)
        file, line, function = (position.file, position.line, position.function) if position else (None, None, None)
        thread = names.thread(self.operation.thread)
        return RaceAccess(self.kind, self.atomic, thread, file, line, function, self.operation.step)


def racing(first: Sequence[Operation], second: Sequence[Operation], source: Source, names: Names) -> Racing | None:
    """The first two accesses that conflict and are not both atomic, of two steps that did these operations."""
    for one, other in product(list(_accesses(first, source)), list(_accesses(second, source))):
        if one.races(other):
            told = one.tell(source, names), other.tell(source, names)
            return Racing(_shared(one, other, names), *told, (one.index, other.index))
    return None


def _accesses(operations: Sequence[Operation], source: Source) -> Iterator[_Access]:
    section = False  # all of it is atomic, unless it is one access and its guards
    for index, operation in enumerate(operations):
        instruction = source.instruction(operation.frames[0])
        section |= isinstance(instruction, AtomicBegin) and not instruction.guarded
        # An access that fails, because the object was freed, is not recorded as one.
        if isinstance(instruction, _ACCESSES) and (operation.visible or operation.kind == "fail"):
            atomic = not isinstance(instruction, Free) and (section or instruction.ordering != "plain")
            yield _Access(index, operation, type(instruction), atomic)


def _shared(one: _Access, other: _Access, names: Names) -> str:
    """The name of the bytes that both touch. A local variable is named with its thread, as the other one sees it."""
    begin = max(one.operation.address, other.operation.address)
    threads = one.operation.thread, other.operation.thread
    viewer = threads[1] if names.object(begin).owner == threads[0] else threads[0]
    return names.place(begin, min(one.end, other.end) - begin, viewer).name
