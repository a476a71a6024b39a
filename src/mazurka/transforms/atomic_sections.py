"""Which code runs inside of atomic sections? They may begin in one function and end in another."""

from __future__ import annotations

from functools import cached_property

from mazurka.program.cfg import successors
from mazurka.program.instructions import AtomicBegin, AtomicEnd, Call, Instruction, Return
from mazurka.program.operands import pointed_to
from mazurka.program.program import Block, Function, Program

_MANY = 8


def blocks_in_atomic_sections(program: Program) -> set[tuple[str, str]]:
    """The blocks, by the names of their function and their own, at whose start a section may be open."""
    return _AtomicSections(program).find()


def is_in_section(program: Program, function: Function, block: Block, at: Instruction) -> bool:
    """Whether a section that the function has begun itself may be open at an instruction of one of its blocks."""
    sections = _AtomicSections(program)
    before = block.instructions[: block.instructions.index(at)]
    return sections.depths(function).get(block.name, 0) + sum(map(sections.change, before)) > 0


class _AtomicSections:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._changes: dict[str, int] = {}

    def find(self) -> set[tuple[str, str]]:
        found: set[tuple[str, str]] = set()
        called_inside: list[str] = []
        for function in self._program.functions.values():
            for name, depth in self.depths(function).items():
                block = function.blocks[name]
                if depth > 0:
                    found.add((function.name, name))
                for instruction in block.instructions:
                    if depth > 0:
                        called_inside += self._callees(instruction)
                    depth += self.change(instruction)
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

    def depths(self, function: Function) -> dict[str, int]:
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
        return depth + sum(self.change(instruction) for instruction in block.instructions)

    def change(self, instruction: Instruction) -> int:
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
        """How many more sections are open after a call of a function. What it calls comes first, as far as that does
        not come back to it; calls through pointers lead from one function to the next a long way."""
        stack = [] if name in self._changes else [name]
        begun: set[str] = set()
        while stack:
            function = self._program.functions[stack[-1]]
            if function.name not in self._changes:
                self._changes[function.name] = 0  # if it calls itself
                begun.add(function.name)
                callees = dict.fromkeys(callee for each in function.instructions for callee in self._callees(each))
                stack += [callee for callee in callees if callee not in self._changes]
            else:
                stack.pop()
                if function.name in begun:
                    begun.remove(function.name)
                    self._changes[function.name] = self._change_within(function)
        return self._changes[name]

    def _change_within(self, function: Function) -> int:
        returns = (
            self._end(function.blocks[block], depth)
            for block, depth in self.depths(function).items()
            if isinstance(function.blocks[block].terminator, Return)
        )
        return max(returns, default=0)

    def _callees(self, instruction: Instruction) -> list[str]:
        match instruction:
            case Call(str(name)):
                return [name]
            case Call():
                return self._pointed_to
            case _:
                return []

    @cached_property
    def _pointed_to(self) -> list[str]:
        return pointed_to(self._program)
