"""What a bug depends on: how far each operation of an execution is from what went wrong.

The slice is taken backwards from the failing step, from both accesses of a data race, or from what threads wait for in
vain. An operation depends on those that gave it its values: the reads in its own thread that its operands and the
branches on the way to it are computed from, which the code tells; the write that it read from, whoever did that, and
those that it did not see; what allocated and freed the block that it touches; what started its thread. Of an
instruction that was executed many times, the latest time before counts, whatever the call: that is not exact, but this
is only about what to show first.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from mazurka.deadline import NEVER, Deadline
from mazurka.executions.naming import Names
from mazurka.executions.overwritten import Older
from mazurka.executions.positions import Source
from mazurka.program.cfg import predecessors, successors
from mazurka.program.instructions import (
    Call,
    Choose,
    CompareExchange,
    Instruction,
    Load,
    Phi,
    Register,
    Return,
    Update,
    Value,
)
from mazurka.program.operands import definitions, operands
from mazurka.program.program import Function

if TYPE_CHECKING:
    from mazurka._native import Operation

# So many operations are followed to what they depend on, through so many calls around them.
_MOST_FOLLOWED = 5_000
_MOST_CALLS = 8
# What touches more words than that is compared with everything.
_WIDE = 64
_RECORDED = (Load, Update, CompareExchange, Choose)


class Relevance:
    """The operations of an execution, and how many dependences lie between each and what went wrong."""

    def __init__(
        self, operations: Sequence[Operation], source: Source, names: Names, older: Mapping[int, Older] | None = None
    ) -> None:
        self._operations = operations
        self._older = older or {}
        self._source = source
        self._names = names
        self._code: dict[Function, _Code] = {}
        self._needs: dict[tuple[int, ...], list[Instruction]] = {}  # by the place and the calls that lead there
        self._done: dict[tuple[int, Instruction], list[int]] = {}  # by thread and instruction, in order
        self._inside: dict[tuple[int, Instruction], list[int]] = {}  # the same of calls, for what is done in them
        self._writes: dict[int, list[int]] = {}  # by word
        self._wide: list[int] = []
        self._lives: dict[int, list[int]] = {}  # where a block was allocated and freed
        self._starts: dict[int, int] = {}
        self._distance: dict[int, int] = {}
        self._pending: deque[int] = deque()
        for index, operation in enumerate(operations):
            self._enter(index, operation)

    def _enter(self, index: int, operation: Operation) -> None:
        innermost, *around = operation.frames[:_MOST_CALLS]
        self._done.setdefault((operation.thread, self._source.instruction(innermost)), []).append(index)
        for pc in around:
            self._inside.setdefault((operation.thread, self._source.instruction(pc)), []).append(index)
        if operation.kind in ("allocate", "free"):
            self._lives.setdefault(operation.address, []).append(index)
        elif operation.kind == "spawn":
            self._starts[self._names.object(operation.address).owner] = index
        elif operation.written is not None:
            words = _words(operation.address, operation.size)
            for word in words if len(words) <= _WIDE else ():
                self._writes.setdefault(word, []).append(index)
            if len(words) > _WIDE:
                self._wide.append(index)

    # --------------------------------------------------------------------------------------------- the seeds

    def add(self, index: int) -> None:
        """This operation itself went wrong."""
        self._reach(index, 0)

    def add_place(self, thread: int, frames: Sequence[int], address: int = 0) -> None:
        """A thread went wrong, or stays, at this place after all of them, perhaps for what became of an object."""
        for index in self._sources(thread, frames, len(self._operations)):
            self._reach(index, 1)
        for index in self._lives.get(self._names.object(address).base, ()) if address else ():
            self._reach(index, 1)
        if thread in self._starts:
            self._reach(self._starts[thread], 1)

    def add_awaited(self, address: int, size: int) -> None:
        """What is stored here keeps a thread waiting."""
        for index in self._writers(address, size, len(self._operations)):
            self._reach(index, 1)

    # ------------------------------------------------------------------------------------------- the closure

    def distances(self, deadline: Deadline = NEVER) -> list[int | None]:
        """How far each operation is from what went wrong; None: that does not depend on it, as far as it was followed
        before the deadline."""
        for _ in range(_MOST_FOLLOWED):
            if not self._pending or deadline.left() <= 0:
                break
            index = self._pending.popleft()
            operation, further = self._operations[index], self._distance[index] + 1
            for other in self._sources(operation.thread, operation.frames, index):
                self._reach(other, further)
            if index in self._older:
                for other in self._older[index].writes:
                    self._reach(other, further)
            elif operation.read is not None or operation.kind == "free":
                for other in self._writers(operation.address, operation.size, index):
                    self._reach(other, further)
            if operation.thread in self._starts:
                self._reach(self._starts[operation.thread], further)
        return [self._distance.get(index) for index in range(len(self._operations))]

    def _reach(self, index: int, distance: int) -> None:
        if index not in self._distance:  # (the queue has what is nearer first)
            self._distance[index] = distance
            self._pending.append(index)

    def _writers(self, address: int, size: int, before: int) -> Iterator[int]:
        """The latest operations before one that wrote these bytes."""
        for word in _words(address, size)[:_WIDE]:
            earlier = self._writes.get(word, ())
            for position in range(bisect_left(earlier, before) - 1, -1, -1):
                one = self._operations[earlier[position]]
                if one.address < address + size and address < one.address + one.size:
                    yield earlier[position]
                    break
        yield from (index for index in self._wide if index < before)

    def _sources(self, thread: int, frames: Sequence[int], before: int) -> list[int]:
        """The latest operations of a thread, before one, that gave it the values which what it does there depends
        on."""
        place = tuple(frames[:_MOST_CALLS])
        if place not in self._needs:
            self._needs[place] = self._find_needs(place)
        found: list[int] = []
        for instruction in self._needs[place]:
            if isinstance(instruction, Call):
                found += self._returned(thread, instruction, before)
            else:
                found += _latest(self._done.get((thread, instruction), ()), before)
        return found

    def _find_needs(self, frames: Sequence[int]) -> list[Instruction]:
        """The instructions, recorded ones and calls, from which that is computed which an instruction depends on: its
        operands, and the conditions of branches on the way to it and to the calls that lead to it."""
        found: list[Instruction] = []
        pending: list[tuple[int, Value]] = []
        seen: set[tuple[int, Register]] = set()
        for level, pc in enumerate(frames):
            instruction, code = self._source.instruction(pc), self._code_at(pc)
            pending += [(level, value) for value in code.conditions(instruction)]
            if level == 0:
                pending += [(level, value) for value in operands(instruction)]
        while pending:
            level, value = pending.pop()
            if not isinstance(value, Register) or (level, value) in seen:
                continue
            seen.add((level, value))
            code = self._code_at(frames[level])
            match code.definitions.get(value):
                case Phi() as phi:
                    pending += [(level, each) for each in code.deciding(phi)]
                case Call() | Load() | Update() | CompareExchange() | Choose() as instruction:
                    found.append(instruction)
                case None if level + 1 < len(frames):
                    called = self._source.instruction(frames[level + 1])
                    number = code.parameters.get(value)
                    if isinstance(called, Call) and number is not None and number < len(called.arguments):
                        pending.append((level + 1, called.arguments[number]))
                case Instruction() as instruction:
                    pending += [(level, each) for each in operands(instruction)]
        return found

    def _returned(self, thread: int, call: Call, before: int) -> list[int]:
        """What gave the value that a call returned the last time."""
        found: list[int] = []
        for last in _latest(self._inside.get((thread, call), ()), before):
            frames = self._operations[last].frames
            level = next((level for level, pc in enumerate(frames) if self._source.instruction(pc) is call), 0)
            if level and not self._source.function(frames[level]).library:
                code = self._code_at(frames[level - 1])
                for instruction in code.results:
                    found += _latest(self._done.get((thread, instruction), ()), last + 1)
                found = found or [last]
        return found

    def _code_at(self, pc: int) -> _Code:
        function = self._source.function(pc)
        if function not in self._code:
            self._code[function] = _Code(function)
        return self._code[function]


class _Code:
    """The dependences inside of a function."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self.parameters = {register: number for number, register in enumerate(function.parameters)}
        self.definitions: dict[Register, Instruction | Phi] = {}
        self._block: dict[Instruction | Phi, str] = {}
        for name, block in function.blocks.items():
            for phi in block.phis:
                self.definitions[phi.result] = phi
                self._block[phi] = name
            for instruction in block.instructions:
                self._block[instruction] = name
                self.definitions.update(dict.fromkeys(definitions(instruction), instruction))
        self._deciding = _control_dependences(function)

    def conditions(self, instruction: Instruction | Phi) -> list[Value]:
        """What the branches look at that decide whether control comes here."""
        seen: set[str] = set()
        pending = [self._block[instruction]] if instruction in self._block else []
        found: list[Value] = []
        while pending:
            for name in self._deciding.get(pending.pop(), ()):
                if name not in seen:
                    seen.add(name)
                    pending.append(name)
                    found += operands(self._function.blocks[name].terminator)
        return found

    def deciding(self, phi: Phi) -> list[Value]:
        """What a phi may be, and what that depends on."""
        found = [value for _, value in phi.incoming]
        for source, _ in phi.incoming:
            found += self.conditions(self._function.blocks[source].terminator)
            found += operands(self._function.blocks[source].terminator)
        return found

    @cached_property
    def results(self) -> list[Instruction]:
        """The instructions that are recorded which a returned value is computed from."""
        found: list[Instruction] = []
        pending: list[Value] = []
        for instruction in self._function.instructions:
            if isinstance(instruction, Return):
                pending += [*operands(instruction), *self.conditions(instruction)]
        seen: set[Value] = set()
        while pending:
            value = pending.pop()
            if not isinstance(value, Register) or value in seen:
                continue
            seen.add(value)
            match self.definitions.get(value):
                case Phi() as phi:
                    pending += self.deciding(phi)
                case Instruction() as instruction if isinstance(instruction, _RECORDED):
                    found.append(instruction)
                case Instruction() as instruction:
                    pending += operands(instruction)
        return found


def _control_dependences(function: Function) -> dict[str, list[str]]:
    """For each block, those whose branches decide whether control comes to it. Of a branch one way of which never
    returns, as that of an assertion, only what is on that way depends: the rest goes on as if it were not there."""
    following = {name: successors(block) for name, block in function.blocks.items()}
    returning = _reaching(function, [n for n, b in function.blocks.items() if isinstance(b.terminator, Return)])
    names = list(function.blocks)
    everything = frozenset(names)
    after: dict[str, frozenset[str]] = {name: everything for name in names}  # what surely comes, the block included
    changed = True
    while changed:
        changed = False
        for name in reversed(names):
            targets = [target for target in following[name] if target in returning] or following[name]
            common = frozenset.intersection(*(after[target] for target in targets)) if targets else frozenset()
            if (new := common | {name}) != after[name]:
                after[name], changed = new, True
    deciding: dict[str, list[str]] = {name: [] for name in names}
    for name in names:
        if len(following[name]) < 2:
            continue
        for target in following[name]:
            for block in after[target]:
                if block == name or block not in after[name]:
                    deciding[block].append(name)
    return deciding


def _reaching(function: Function, targets: Iterable[str]) -> set[str]:
    """The blocks from which control can come to one of these."""
    sources = predecessors(function)
    found = set(targets)
    pending = list(found)
    while pending:
        for source in sources[pending.pop()]:
            if source not in found:
                found.add(source)
                pending.append(source)
    return found


def _latest(indices: Sequence[int], before: int) -> Sequence[int]:
    position = bisect_left(indices, before)
    return indices[position - 1 : position] if position else ()


def _words(address: int, size: int) -> range:
    return range(address >> 3, (address + max(size, 1) + 7) >> 3)
