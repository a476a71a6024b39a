"""Which code runs inside of atomic sections? They may begin in one function and end in another."""

from __future__ import annotations

from mazurka.program.cfg import successors
from mazurka.program.instructions import AtomicBegin, AtomicEnd, Call, FunctionAddress, Instruction, Return
from mazurka.program.operands import operands
from mazurka.program.program import Block, Function, Program

_MANY = 8


def blocks_in_sections(program: Program) -> set[tuple[str, str]]:
    """The blocks, by the names of their function and their own, at whose start a section may be open."""
    return _Sections(program).find()


class _Sections:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._changes: dict[str, int] = {}

    def find(self) -> set[tuple[str, str]]:
        found: set[tuple[str, str]] = set()
        called_inside: list[str] = []
        for function in self._program.functions.values():
            for name, depth in self._depths(function).items():
                block = function.blocks[name]
                if depth > 0:
                    found.add((function.name, name))
                for instruction in block.instructions:
                    if depth > 0:
                        called_inside += self._callees(instruction)
                    depth += self._change(instruction)
        seen: set[str] = set()
        while called_inside:
            name = called_inside.pop()
            if name not in seen:
                seen.add(name)
                for block in self._program.functions[name].blocks.values():
                    found.add((name, block.name))
                    for instruction in block.instructions:
                        called_inside += self._callees(instruction)
        return found

    def _depths(self, function: Function) -> dict[str, int]:
        """How many sections may be open at the start of each block that can be reached, other than those of callers."""
        entry = function.entry.name
        depths = {entry: 0}
        pending = [entry]
        while pending:
            block = function.blocks[pending.pop()]
            # (A loop that opens one section after the other opens many.)
            depth = min(self._end(block, depths[block.name]), _MANY)
            for target in successors(block):
                if target not in depths or depth > depths[target]:
                    depths[target] = depth
                    pending.append(target)
        return depths

    def _end(self, block: Block, depth: int) -> int:
        return depth + sum(self._change(instruction) for instruction in block.instructions)

    def _change(self, instruction: Instruction) -> int:
        match instruction:
            case AtomicBegin():
                return 1
            case AtomicEnd():
                return -1
            case Call():
                return max(map(self._change_by, self._callees(instruction)), default=0)
            case _:
                return 0

    def _change_by(self, name: str) -> int:
        """How many more sections are open after a call of a function."""
        if name not in self._changes:
            self._changes[name] = 0  # if it calls itself
            function = self._program.functions[name]
            returns = (
                self._end(function.blocks[block], depth)
                for block, depth in self._depths(function).items()
                if isinstance(function.blocks[block].terminator, Return)
            )
            self._changes[name] = max(returns, default=0)
        return self._changes[name]

    def _callees(self, instruction: Instruction) -> list[str]:
        match instruction:
            case Call(str(name)):
                return [name]
            case Call():
                return self._pointed_to()
            case _:
                return []

    def _pointed_to(self) -> list[str]:
        """The functions that may be called through pointers."""
        targets = [
            relocation.target for variable in self._program.globals.values() for relocation in variable.relocations
        ]
        for function in self._program.functions.values():
            for block in function.blocks.values():
                values = [value for phi in block.phis for _, value in phi.incoming]
                for instruction in block.instructions:
                    values += operands(instruction)
                targets += (value.name for value in values if isinstance(value, FunctionAddress))
        return [name for name in dict.fromkeys(targets) if name in self._program.functions]
