"""Where in the source a thread is: the innermost of its calls that is not in a model of the library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mazurka.escaping import visible
from mazurka.program.cfg import innermost_loop, natural_loops
from mazurka.program.instructions import Instruction
from mazurka.program.names import demangle, shortened
from mazurka.result import Loop

if TYPE_CHECKING:
    from mazurka.machine.lowering import Lowered
    from mazurka.program.program import Function


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


# What initialises the global variables of C++.
_BEFORE_MAIN = ("_GLOBAL__", "__cxx_global_")


# The functions of the library that do with a loop what the source does at once.
_BULK = {"__mazurka_fill": "filling memory", "__mazurka_move": "copying memory"}


def _bulk(label: str) -> str | None:
    """What the code of a block does, by its label, which says what was inlined there."""
    return next((_BULK[part] for part in label.split(".") if part in _BULK), None)


def shown_name(function: Function) -> str:
    return visible(function.display) if function.display else demangle(function.name)


class Source:
    """The code of a program, with its positions in the source files and their text."""

    def __init__(self, lowered: Lowered) -> None:
        self._origin = lowered.origin
        self._lines: dict[str, list[str]] = {}
        self._statements: dict[tuple[str, int], str | None] = {}
        self._positions: dict[tuple[int, int, int], Position] = {}

    def function(self, pc: int) -> Function:
        return self._origin[pc][0]

    def instruction(self, pc: int) -> Instruction:
        return self._origin[pc][1]

    def position(self, frames: Sequence[int]) -> Position | None:
        """`frames` are code positions, innermost call first. None where no user code is among them."""
        for depth, pc in enumerate(frames):
            if not self.function(pc).library:
                key = (depth, frames[depth - 1], pc)
                if key not in self._positions:
                    self._positions[key] = self._position(*key)
                return self._positions[key]
        return None

    def _position(self, depth: int, inner: int, pc: int) -> Position:
        function, instruction = self._origin[pc]
        location = instruction.location or function.location
        called = self.function(inner).name if depth else None
        library = location.library if location and location.library else called
        file, line = (location.file, location.line) if location else (None, None)
        name = demangle(location.function) if location and location.function else shown_name(function)
        return Position(file, line, name, depth, shortened(demangle(library)) if library else None)

    def outermost(self, frames: Sequence[int]) -> str | None:
        """The function of the program that a thread was started with, whatever the library wraps around it."""
        outermost = next((pc for pc in reversed(frames) if not self.function(pc).library), None)
        if outermost is None or self.function(outermost).name.startswith(_BEFORE_MAIN):
            return None
        return shown_name(self.function(outermost))

    def loop(self, frames: Sequence[int]) -> Loop | None:
        """The innermost loop of the program's own code that a thread is in: where its header is. What fills or copies
        memory is none: see `bulk`."""
        for pc in frames:
            function, instruction = self._origin[pc]
            if function.library:
                continue
            block = next(block for block in function.blocks.values() if instruction in block.instructions)
            loop = innermost_loop(natural_loops(function), block.name)
            if loop is not None and _bulk(loop.header):
                return None
            if loop is not None:
                header = function.blocks[loop.header].instructions
                location = next((inside.location for inside in header if inside.location), None)
                name = location.function if location and location.function else function.name
                return Loop(demangle(name), location.file if location else None, location.line if location else None)
        return None

    def bulk(self, frames: Sequence[int]) -> str | None:
        """What a thread is in the middle of, if that is filling or copying memory: the source has no loop there, but
        the library has."""
        position = self.position(frames)
        for pc in frames:
            function, instruction = self._origin[pc]
            block = next(block for block in function.blocks.values() if instruction in block.instructions)
            doing = _bulk(f"{function.name}.{block.name}")
            if doing and position is not None:
                return f"{doing} at {position.file}:{position.line} in {position.function}"
        return None

    def statement(self, position: Position) -> str | None:
        """The text of the line, or None where there is no such file."""
        if position.file is None or position.line is None:
            return None
        at = position.file, position.line
        if at not in self._statements:
            lines = self._text(position.file)
            line = lines[position.line - 1] if 0 < position.line <= len(lines) else None
            self._statements[at] = visible(line.expandtabs().strip()) if line is not None else None
        return self._statements[at]

    def _text(self, file: str) -> list[str]:
        if file not in self._lines:
            try:  # (the compiler counts nothing else as the end of a line)
                self._lines[file] = Path(file).read_text(errors="replace").split("\n")
            except OSError:
                self._lines[file] = []
        return self._lines[file]
