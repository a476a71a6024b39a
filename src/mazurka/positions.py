"""Where in the source a thread is: the innermost of its calls that is not in a model of the library."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mazurka.escaping import visible
from mazurka.program.cfg import innermost_loop, natural_loops
from mazurka.program.instructions import Instruction, Location

if TYPE_CHECKING:
    from mazurka.program.program import Function
    from mazurka.transforms.lowering import Lowered


@dataclass(frozen=True, slots=True)
class Position:
    """`depth` counts the calls of library functions inside; `library` names the outermost of them, the one that
    the line of the source calls."""

    file: str | None
    line: int | None
    function: str
    depth: int
    library: str | None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file else self.function


class Source:
    """The code of a program, with its positions in the source files and their text."""

    def __init__(self, lowered: Lowered) -> None:
        self._origin = lowered.origin
        self._lines: dict[str, list[str]] = {}

    def function(self, pc: int) -> Function:
        return self._origin[pc][0]

    def instruction(self, pc: int) -> Instruction:
        return self._origin[pc][1]

    def position(self, frames: Sequence[int]) -> Position | None:
        """`frames` are code positions, innermost call first. None where no user code is among them."""
        for depth, pc in enumerate(frames):
            function, instruction = self._origin[pc]
            if not function.library:
                location = instruction.location or function.location
                library = spoken(self.function(frames[depth - 1]).name) if depth else None
                file, line = (location.file, location.line) if location else (None, None)
                name = location.function if location and location.function else function.name
                return Position(file, line, spoken(name), depth, library)
        return None

    def outermost(self, frames: Sequence[int]) -> str | None:
        """The function of the program that a thread was started with, whatever the library wraps around it."""
        outermost = next((pc for pc in reversed(frames) if not self.function(pc).library), None)
        return spoken(self.function(outermost).name) if outermost is not None else None

    def loop(self, frames: Sequence[int]) -> Location | None:
        """The innermost loop of the program's own code that a thread is in: where its header is."""
        for pc in frames:
            function, instruction = self._origin[pc]
            if function.library:
                continue
            block = next(block for block in function.blocks.values() if instruction in block.instructions)
            loop = innermost_loop(natural_loops(function), block.name)
            if loop is not None:
                header = function.blocks[loop.header].instructions
                return next((inside.location for inside in header if inside.location), None)
        return None

    def statement(self, position: Position) -> str | None:
        """The text of the line, or None where there is no such file."""
        if position.file is None or position.line is None:
            return None
        if position.file not in self._lines:
            try:  # (the compiler counts nothing else as the end of a line)
                self._lines[position.file] = Path(position.file).read_text(errors="replace").split("\n")
            except OSError:
                self._lines[position.file] = []
        lines = self._lines[position.file]
        if not 0 < position.line <= len(lines):
            return None
        return visible(lines[position.line - 1].expandtabs().strip())


def spoken(symbol: str) -> str:
    """The name of a function as the source has it: of the symbol of a C++ function, what comes before its
    parameters (and before the arguments of a template)."""
    if symbol.startswith("_ZZ"):  # a lambda, or a method of a class inside a function
        return f"function in {spoken('_Z' + symbol[3:])}"
    start = re.match(r"_Z(N[rVK]*)?(St)?(?=L?[1-9])", symbol)
    if start is None:
        return visible(symbol)
    nested, standard = start.groups()
    parts = ["std"] if standard else []
    rest = symbol[start.end() :]
    while length := re.match(r"L?([1-9]\d*)", rest):
        end = length.end() + int(length[1])
        name, rest = rest[length.end() : end], rest[end:]
        parts.append("(anonymous namespace)" if name == "_GLOBAL__N_1" else name)
        if not nested:
            break
    return visible("::".join(parts))
