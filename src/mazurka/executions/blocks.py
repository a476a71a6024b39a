"""What the blocks of the heap are, in the types of the source: what the pointers that they were made for, or are
accessed through, are said to point to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mazurka.program.instructions import (
    Call,
    CompareExchange,
    Constant,
    Convert,
    HeapAlloc,
    Instruction,
    Load,
    Offset,
    Phi,
    Register,
    Return,
    Store,
    Update,
    Value,
)
from mazurka.program.operands import definitions
from mazurka.program.program import DebugType, Function
from mazurka.program.types import signed

if TYPE_CHECKING:
    from mazurka._native import Machine
    from mazurka.machine.lowering import Lowered


class Blocks:
    """The types that a block may have, the best evidence first."""

    def __init__(self, types: dict[str, DebugType], lowered: Lowered, machine: Machine) -> None:
        self._types = types
        self._origin = lowered.origin
        self._machine = machine
        self._definitions: dict[Function, dict[Register, Instruction | Phi]] = {}
        self._found: dict[int, dict[str, None]] = {}
        for block in machine.allocated():
            self._add_maker(block)
        for pc, address in machine.uses():
            self._add_use(pc, address)

    def add(self, block: int, *keys: str) -> None:
        self._found.setdefault(block, {}).update(dict.fromkeys(keys))

    def type(self, block: int) -> str | None:
        """The type that fits a block best: one that is as large, else one that it can be several of."""
        fitting = [key for key in self._found.get(block, ()) if key in self._types and self._types[key].size]
        size = self._machine.describe(block).size
        return min(fitting, key=lambda key: self._misfit(self._types[key], size), default=None)

    def _misfit(self, kind: DebugType, size: int) -> int:
        if kind.size == size:
            return 0
        if kind.size < size:
            return 1 if kind.kind in ("struct", "union") else 2
        return 3

    def _add_maker(self, block: int) -> None:
        """The pointer that the call gave its address to; that of a call further out, as long as each just returns what
        the one inside gave it."""
        made, _ = self._machine.life(block)
        for pc in made.frames if made is not None else ():
            function, instruction = self._origin[pc]
            if function.library:
                continue
            result = instruction.result if isinstance(instruction, Call | HeapAlloc) else None
            if result is None:
                return
            if result.points_to:
                self.add(block, *result.points_to)
                return
            if not self._is_returned(function, result):
                return

    def _is_returned(self, function: Function, result: Register) -> bool:
        return any(
            isinstance(instruction, Return) and result in self._sources(function, instruction.value)
            for instruction in function.instructions
        )

    def _sources(self, function: Function, value: Value | None) -> list[Register]:
        """A register, and those that phis and conversions make it of."""
        found: list[Register] = []
        pending = [value]
        while pending:
            value = pending.pop()
            if not isinstance(value, Register) or value in found:
                continue
            found.append(value)
            match self._definition(function, value):
                case Phi(incoming=incoming):
                    pending += [source for _, source in incoming]
                case Convert(value=source):
                    pending.append(source)
        return found

    def _definition(self, function: Function, register: Register) -> Instruction | Phi | None:
        if function not in self._definitions:
            self._definitions[function] = dict(_all_definitions(function))
        return self._definitions[function].get(register)

    def _add_use(self, pc: int, address: int) -> None:
        function, instruction = self._origin[pc]
        if not isinstance(instruction, Load | Store | Update | CompareExchange):
            return
        keys, offset = self._typed(function, instruction.address)
        base = self._machine.describe(address).base
        for key in keys:
            size = self._types[key].size if key in self._types else 0
            if size and (offset is None or (address - offset - base) % size == 0):
                self.add(base, key)

    def _typed(self, function: Function, address: Value) -> tuple[tuple[str, ...], int | None]:
        """What is known of the pointer furthest out that an address is computed from: its types, and how far behind it
        the address is, None if that varies."""
        found: tuple[str, ...] = ()
        behind: int | None = 0
        offset: int | None = 0
        seen: set[Register] = set()
        while isinstance(address, Register) and address not in seen:  # (that of a loop is computed from itself)
            seen.add(address)
            sources = self._sources(function, address)
            if keys := tuple(key for source in sources for key in source.points_to):
                found, behind = keys, offset
            # (an address that is made of several is computed from each of them in the same way)
            definition = self._definition(function, sources[-1])
            if not isinstance(definition, Offset):
                break
            if offset is not None and isinstance(definition.index, Constant):
                offset += signed(int(definition.index.value), 64) * definition.scale + definition.displacement
            else:
                offset = None
            address = definition.base
        return found, behind


def _all_definitions(function: Function) -> Iterator[tuple[Register, Instruction | Phi]]:
    for block in function.blocks.values():
        for phi in block.phis:
            yield phi.result, phi
        for instruction in block.instructions:
            for register in definitions(instruction):
                yield register, instruction
