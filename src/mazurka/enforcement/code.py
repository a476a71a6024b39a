"""What the LLVM text of a program says about the instructions at which its events are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mazurka.enforcement.weaving import callee_at, functions, instructions
from mazurka.engines.abstract.model import Model

_WATCHED = frozenset(("pthread_create", "pthread_join", "thrd_create", "thrd_join"))

_RESULT = re.compile(r"\s+(%[\w.$-]+) = ")
# The address is the last operand of a load or a store.
_ADDRESS = re.compile(r"ptr ([@%][\w.$-]+|getelementptr .*\))(?:,? (?:align|seq_cst|acquire|release|monotonic)\b|$)")
_BASE = re.compile(r"getelementptr .*?ptr ([@%][\w.$-]+)")

Line = tuple[str, int]  # a file and a line of its LLVM text, as it is checked


@dataclass(slots=True)
class Code:
    """kinds: the instructions that the native program has, too: "load", "store", "call f", ... (also through a pointer,
    if it is always the same function of the library). unused: those whose result nobody looks at. certain: those that
    name the variable of the program that they touch, or a part of it, so that they always touch that one; through a
    pointer, they may also touch one that never changes, which is none of the accesses of the model. watched: calls that
    create threads or wait for their end, with their source positions; the runtime wants to know of them, whether or not
    they are events. blocks: the lines of the basic block that a line is in. has_sections: there are atomic sections."""

    kinds: dict[Line, str] = field(default_factory=dict)
    unused: set[Line] = field(default_factory=set)
    certain: set[Line] = field(default_factory=set)
    watched: dict[Line, str] = field(default_factory=dict)
    blocks: dict[Line, range] = field(default_factory=dict)
    has_sections: bool = False

    def callee(self, line: Line | None) -> str | None:
        """The function that a line calls; "" if it may be several, or one of the program, through a pointer; None if it
        is no call."""
        kind = self.kinds.get(line, "") if line else ""
        return kind.removeprefix("call ").strip() if kind.startswith("call") else None


def read_code(texts: Mapping[str, str], same: Mapping[str, Mapping[int, int]], model: Model) -> Code:
    """`texts` are as they are checked; `same` has the lines that are in the native program, too."""
    code = Code(has_sections=any("@__VERIFIER_atomic_" in text for text in texts.values()))
    for file, text in texts.items():
        lines = text.split("\n")
        variables = set(re.findall(r"^@([\w.$]+) = (?!.*\bconstant )(?!.*\bthread_local\b)", text, re.MULTILINE))
        uses: dict[int, Counter[str]] = {}
        results: dict[int, dict[str, str]] = {}  # of each line, the instructions of its function by their results
        for _, (first, end) in functions(text):
            for block in _blocks(lines, first, end):
                code.blocks.update(dict.fromkeys(((file, number) for number in block), block))
            names = Counter(name for line in lines[first:end] for name in re.findall(r"%[\w.$-]+", line))
            uses.update(dict.fromkeys(range(first, end), names))
            made = {found[1]: line for line in lines[first:end] if (found := _RESULT.match(line))}
            results.update(dict.fromkeys(range(first, end), made))
        for number, instruction in instructions(text):
            if number not in same[file]:
                continue
            line = lines[number - 1]
            kind = instruction.kind
            if callee_at(line) == "":
                kind = f"call {_target(model, (file, number))}"
            code.kinds[file, number] = kind
            result = _RESULT.match(line)
            if result is None or uses[number][result[1]] == 1:
                code.unused.add((file, number))
            if _certain_names(line, kind, results[number]) & variables:
                code.certain.add((file, number))
            if code.callee((file, number)) in _WATCHED:
                code.watched[file, number] = f"{file}:{instruction.position[0] if instruction.position else '?'}"
    return code


def _blocks(lines: Sequence[str], first: int, end: int) -> Iterator[range]:
    """The basic blocks of a function from a line on, without their labels."""
    start = first + 1
    for number in range(first + 1, end + 1):
        if number == end or not lines[number - 1].startswith(" "):
            yield range(start, number)
            start = number + 1


def _target(model: Model, line: Line) -> str:
    """The function of the library that is always called through the pointer at a line, if there is one."""
    names = list(model.targets.get(line, ()))
    assert model.program is not None
    return names[0] if len(names) == 1 and model.program.functions[names[0]].library else ""


def _certain_names(line: str, kind: str, results: Mapping[str, str]) -> set[str]:
    """The variables that an instruction surely touches, as far as they are global ones."""
    if kind not in ("load", "store"):
        return set(re.findall(r"@([\w.$]+)", line))  # of a call, its arguments
    address = _ADDRESS.search(line)
    name = _variable_at(address[1], results) if address is not None else None
    return {name} if name is not None else set()


def _variable_at(address: str, results: Mapping[str, str]) -> str | None:
    """The global variable that an address is part of for sure, if it is computed right from its name."""
    while not address.startswith("@"):
        base = _BASE.search(results.get(address, address))
        if base is None:
            return None
        address = base[1]
    return address[1:]
