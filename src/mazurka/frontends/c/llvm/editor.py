"""Changes of a module's text: what is put before, after and in place of its instructions."""

from __future__ import annotations

import re

from mazurka.frontends.c.llvm.instruction import LLVMInstruction
from mazurka.frontends.c.llvm.module import Module

_SYMBOL = re.compile(r'"[^"]*"|@[-\w.$]+')


class Editor:
    """Instructions that are put in come from the same place of the source as the one that they are put beside."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._lines = [[line] for line in module.lines]  # those that stand there now
        self._places = [0] * len(self._lines)  # at which of them is what stood there before
        self._added: list[str] = []

    def before(self, instruction: LLVMInstruction, *texts: str) -> None:
        index = instruction.line - 1
        place = self._places[index]
        self._lines[index][place:place] = self._new(instruction, texts)
        self._places[index] += len(texts)

    def after(self, instruction: LLVMInstruction, *texts: str) -> None:
        self._lines[instruction.line - 1] += self._new(instruction, texts)

    def replace(self, instruction: LLVMInstruction, text: str) -> None:
        index = instruction.line - 1
        self._lines[index][self._places[index]] = text

    def _new(self, instruction: LLVMInstruction, texts: tuple[str, ...]) -> list[str]:
        suffix = f", !dbg !{instruction.debug}" if instruction.debug is not None else ""
        return [f"  {text}{suffix}" for text in texts]

    def append(self, *lines: str) -> None:
        """At the end of the module; declarations of what it declares already are left out."""
        for line in lines:
            symbol = _SYMBOL.search(line)
            if not (line.startswith("declare ") and symbol and symbol[0][1:] in self.module.symbols):
                self._added.append(line)

    def rename(self, old: str, new: str) -> None:
        """Give another name to a function or a variable."""
        renamed = {f"@{old}": f"@{new}"}
        for lines in self._lines:
            if any(f"@{old}" in line for line in lines):
                lines[:] = [_SYMBOL.sub(lambda found: renamed.get(found[0], found[0]), line) for line in lines]

    def drop_attributes(self, *names: str) -> None:
        """Of all functions."""
        dropped = re.compile(rf" (?:{'|'.join(names)})\b")
        for lines in self._lines:
            if lines[0].startswith("attributes #"):
                lines[:] = [dropped.sub("", lines[0])]

    def text(self) -> str:
        return "\n".join([*(line for lines in self._lines for line in lines), *self._added])
