"""What the code of a program says without being run: registers that are live, loops, positions."""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.constrained.extract.paths import Frame
from mazurka.constrained.graphs import reached
from mazurka.machine.lowering import Lowered
from mazurka.machine.registers import live_out
from mazurka.program import cfg
from mazurka.program import instructions as ins
from mazurka.program.operands import definitions, operands
from mazurka.program.program import Function


class CodeAnalysis:
    """`positions` are those of instructions in the code of the virtual machine, by their identity."""

    def __init__(self, lowered: Lowered) -> None:
        self.positions: dict[int, int] = {}
        for pc in range(len(lowered.origin) - 1, -1, -1):
            self.positions[id(lowered.origin[pc][1])] = pc
        self._live_out: dict[str, dict[str, set[ins.Register]]] = {}
        self._headers: dict[str, dict[str, frozenset[str]]] = {}

    def live(self, frame: Frame, innermost: bool) -> list[ins.Register]:
        """The registers of a call that are still needed."""
        function = frame.function
        if function.name not in self._live_out:
            self._live_out[function.name] = live_out(function, cfg.reverse_postorder(function))
        needed = set(self._live_out[function.name][frame.block])
        instructions = function.blocks[frame.block].instructions
        end = frame.index if innermost else frame.index + 1
        for instruction in reversed(instructions[end:]):
            needed.difference_update(definitions(instruction))
            needed.update(value for value in operands(instruction) if isinstance(value, ins.Register))
        if not innermost:
            needed.difference_update(definitions(instructions[frame.index]))
        return [register for register in frame.registers if register in needed]

    def is_head(self, function: Function, block: str) -> bool:
        """Whether a loop begins at a block."""
        return block in self.headers(function)[block]

    def headers(self, function: Function) -> dict[str, frozenset[str]]:
        """For each block, the headers of the loops that it is in."""
        if function.name not in self._headers:
            loops = cfg.natural_loops(function)
            self._headers[function.name] = {
                block: frozenset(loop.header for loop in loops if block in loop.blocks) for block in function.blocks
            }
        return self._headers[function.name]

    def is_endless(self, frames: Sequence[Frame]) -> bool:
        """Whether one of the calls is in a loop from which it never returns."""
        return any(self._is_endless(frame.function, frame.block) for frame in frames)

    def _is_endless(self, function: Function, start: str) -> bool:
        blocks = reached([start], lambda name: cfg.successors(function.blocks[name]))
        returns = any(isinstance(function.blocks[name].terminator, ins.Return | ins.EndThread) for name in blocks)
        return not returns and bool(self.headers(function)[start])

    def position(self, frame: Frame) -> int:
        """Where a call stands in the code of the machine. (A jump to what follows it is not there.)"""
        instruction = frame.instruction
        while id(instruction) not in self.positions:
            assert isinstance(instruction, ins.Jump)
            instruction = frame.function.blocks[instruction.target].instructions[0]
        return self.positions[id(instruction)]
