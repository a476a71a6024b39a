"""What the LLVM text of a program says about the instructions at which its events are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mazurka.constrained.model import Model
from mazurka.errors import InputError
from mazurka.frontends.c.llvm.debug import DebugInfo
from mazurka.frontends.c.llvm.instruction import ACCESSES, LLVMInstruction
from mazurka.frontends.c.llvm.module import Module
from mazurka.frontends.c.llvm.syntax import Expression, LLVMValue, Local, Symbol, Unsupported, Zero, name_of
from mazurka.frontends.c.roles import operations
from mazurka.program.instructions import Location as SourceLocation

_WATCHED = operations("create", "join", of=["thread"])
_WITH_DESTRUCTOR = operations("create", of=["key"])

Line = tuple[str, int]  # a file and a line of its LLVM text, as it is checked
Named = tuple[str, str]  # a file and a function that it defines


@dataclass(slots=True)
class Code:
    """kinds: the instructions that the native program has, too: "load", "store", "call f", ... (also through a pointer,
    if it is always the same function of the library). unused: those whose result nobody looks at. certain: those that
    name the variable of the program that they touch, or a part of it, so that they always touch that one; through a
    pointer, they may also touch one that never changes, which is none of the accesses of the model. watched: calls that
    create threads or wait for their end, with their source positions; the runtime wants to know of them, whether or not
    they are events. blocks: the lines of the basic block that a line is in. has_sections: there are atomic sections.
    has_destructors: functions are to be called at the end of threads.
    owners: the functions of all instructions. calls: what is called by its name, "" for calls through pointers.
    pointed_to: the functions that can be called so, since the program has their address."""

    kinds: dict[Line, str] = field(default_factory=dict)
    unused: set[Line] = field(default_factory=set)
    certain: set[Line] = field(default_factory=set)
    watched: dict[Line, str] = field(default_factory=dict)
    blocks: dict[Line, range] = field(default_factory=dict)
    has_sections: bool = False
    has_destructors: bool = False
    owners: dict[Line, Named] = field(default_factory=dict)
    calls: dict[Line, str] = field(default_factory=dict)
    pointed_to: list[Named] = field(default_factory=list)

    def callee(self, line: Line | None) -> str | None:
        """The function that a line calls; "" if it may be several, or one of the program, through a pointer; None if it
        is no call."""
        kind = self.kinds.get(line, "") if line else ""
        return kind.removeprefix("call ").strip() if kind.startswith("call") else None


def read_code(modules: Mapping[str, Module], same: Mapping[str, Mapping[int, int]], model: Model) -> Code:
    """`modules` are as they are checked; `same` has the lines that are in the native program, too."""
    code = Code()
    for file, module in modules.items():
        code.has_sections |= any(name.startswith("__VERIFIER_atomic_") for name in module.symbols)
        for name, body in module.bodies.items():
            for block in body.values():
                lines = range(block[0].line, block[-1].line + 1)
                code.blocks.update(dict.fromkeys(((file, number) for number in lines), lines))
                code.owners.update(dict.fromkeys(((file, number) for number in lines), (file, name)))
            try:
                _read_function(code, module, [each for block in body.values() for each in block], same[file], model)
            except Unsupported as reason:
                raise InputError(f"{file}: {reason}") from None
    code.pointed_to = _pointed_to(modules, set(code.owners.values()))
    return code


def _read_function(
    code: Code, module: Module, instructions: Sequence[LLVMInstruction], same: Mapping[int, int], model: Model
) -> None:
    debug = DebugInfo(module, {}, {}, "")
    uses = Counter(name_of(token) for each in instructions for token in each.tokens if token[0] == "%")
    results = {each.result: each for each in instructions if each.result is not None}
    for instruction in instructions:
        line = (module.origin, instruction.line)
        callee = instruction.callee
        if callee is not None:
            code.calls[line] = callee
        if callee in _WITH_DESTRUCTOR:
            (_, _), (destructor, _) = instruction.arguments()
            code.has_destructors |= destructor.value != Zero()
        if instruction.line not in same:
            continue
        code.kinds[line] = instruction.opcode if callee is None else f"call {callee or _target(model, line)}"
        if instruction.result is None or uses[instruction.result] == 1:
            code.unused.add(line)
        if any(_is_shared(module, name) for name in _certain_names(instruction, results)):
            code.certain.add(line)
        if code.callee(line) in _WATCHED:
            place = _place(debug, instruction)
            code.watched[line] = f"{module.origin}:{place.line if place else '?'}"


def same_instructions(checked: Module, built: Module) -> dict[int, int]:
    """For lines of one text, those of the other with the same instruction. Where one has more equal ones than the
    other, it cannot be told which are which.

    The text that is checked can differ from the one that is built: the macro `__MAZURKA__` is defined only for the
    first. Instructions are found again by their function, their source position, and what they are."""
    if checked.lines == built.lines:
        return {instruction.line: instruction.line for _, instruction in checked.instructions()}
    mine, others = _by_likeness(checked), _by_likeness(built)
    pairs = [(mine[key], others[key]) for key in mine if key in others and len(mine[key]) == len(others[key])]
    return {number: other for ones, same in pairs for number, other in zip(ones, same, strict=True)}


_Likeness = tuple[str, SourceLocation | None, tuple[str, ...]]


def _by_likeness(module: Module) -> dict[_Likeness, list[int]]:
    """The lines of instructions, equal ones together: all that a macro stands for has one position. What has a number
    may have another one: temporary values, literals, attributes and metadata."""
    debug = DebugInfo(module, {}, {}, "")
    found: dict[_Likeness, list[int]] = {}
    for function, instruction in module.instructions():
        tokens = tuple(each for each in instruction.tokens if each[0] not in "%!#" and not each.startswith("@.str"))
        found.setdefault((function, _place(debug, instruction), tokens), []).append(instruction.line)
    return found


def _place(debug: DebugInfo, instruction: LLVMInstruction) -> SourceLocation | None:
    return debug.location(instruction.debug) if instruction.debug is not None else None


def _target(model: Model, line: Line) -> str:
    """The function of the library that is always called through the pointer at a line, if there is one."""
    names = list(model.targets.get(line, ()))
    assert model.program is not None
    return names[0] if len(names) == 1 and model.program.functions[names[0]].library else ""


def _is_shared(module: Module, name: str) -> bool:
    """Whether a name is that of a variable that threads share and can change."""
    if name not in module.symbols or module.symbols[name].kind != "variable":
        return False
    variable = module.variable(name)
    return not variable.constant and not variable.thread_local


def _certain_names(instruction: LLVMInstruction, results: Mapping[str, LLVMInstruction]) -> Iterator[str]:
    """The variables that an instruction surely touches, as far as they are global ones; of a call, its arguments."""
    if instruction.opcode not in ACCESSES:
        yield from (name_of(token) for token in instruction.tokens if token[0] == "@")
    elif (name := _variable_at(instruction.address(), results)) is not None:
        yield name


def _variable_at(address: LLVMValue, results: Mapping[str, LLVMInstruction]) -> str | None:
    """The global variable that an address is part of for sure, if it is computed right from its name."""
    while True:
        match address:
            case Symbol(name):
                return name
            case Expression("getelementptr", (base, *_)):
                address = base.value
            case Local(name) if name in results and results[name].opcode == "getelementptr":
                address = results[name].address()
            case _:
                return None


def _pointed_to(modules: Mapping[str, Module], defined: Collection[Named]) -> list[Named]:
    found: set[Named] = set()
    for file, module in modules.items():
        for name in module.addresses_taken():
            found.update(named(file, name, defined))
    return sorted(found)


def named(file: str, name: str, defined: Collection[Named]) -> list[Named]:
    """The program's functions of that name; one of the same file hides others."""
    return [(file, name)] if (file, name) in defined else [function for function in defined if function[1] == name]
