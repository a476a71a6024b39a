"""From a function in LLVM's text to a function of the program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise

from mazurka.frontends.c.linker import Linker
from mazurka.frontends.c.llvm.instruction import LLVMInstruction
from mazurka.frontends.c.llvm.module import Definition
from mazurka.frontends.c.llvm.syntax import Cursor, LLVMType, Unsupported, alignment, leaves, name_of, size_of
from mazurka.frontends.c.roles import OPAQUE_TYPES
from mazurka.frontends.c.translate import calls, control, exceptions, memory, values
from mazurka.frontends.c.translate.control import fill_phis, note_phis, runs_atomically
from mazurka.frontends.c.translate.exceptions import unwind
from mazurka.frontends.c.translate.memory import copy, fill
from mazurka.frontends.c.translate.translator import Translation, Translator
from mazurka.frontends.c.translate.variadic import registers_taken
from mazurka.program import instructions as ins
from mazurka.program.cfg import successors
from mazurka.program.instructions import Constant, Register
from mazurka.program.program import Block
from mazurka.program.types import I8, I64, PTR

_DECLARE = re.compile(r'#dbg_declare\(ptr (%(?:"[^"]*"|[-\w.$]+)), !(\d+), !DIExpression\(\)')

_INSTRUCTIONS: dict[str, Translation] = {
    **values.INSTRUCTIONS,
    **memory.INSTRUCTIONS,
    **calls.INSTRUCTIONS,
    **control.INSTRUCTIONS,
    **exceptions.INSTRUCTIONS,
}
_REFUSED = {
    "callbr": "inline assembly with jumps (asm goto) is not supported; write it in C",
    "va_arg": "the LLVM instruction 'va_arg' is not supported; compile with clang for x86_64-linux-gnu",
    "cleanupret": "Windows exceptions are not supported; compile for x86_64-linux-gnu",
    "catchswitch": "Windows exceptions are not supported; compile for x86_64-linux-gnu",
}


def begin_function(linker: Linker, definition: Definition) -> Translator:
    """Translate what can be reached without exceptions. What cannot be translated goes to the linker's refusals; then
    the function is not all there."""
    t = Translator(linker, definition)
    linker.program.functions[t.function.name] = t.function
    with _refusing(t):
        t.text = t.module.body(definition.name)
        for lines in t.text.values():
            for line in lines:
                t.names.update(name_of(token) for token in line.tokens if token[0] == "%")
                if (declare := _DECLARE.search(line.text)) is not None:
                    t.variables[name_of(declare[1])] = int(declare[2])
        entry = next(iter(t.text))
        t.block = Block(entry)
        with _refusing(t):
            _enter(t)
        _translate_from(t, t.block)
    return t


def translate_landing_pad(t: Translator, label: str) -> None:
    """Translate what is reached by an exception, if that is new."""
    if label not in t.blocks:
        with _refusing(t):
            _translate_from(t, Block(label))


def finish_function(t: Translator) -> None:
    """Once all that can be reached is translated, and it is known which calls may throw."""
    if t.refused:
        return
    unwind(t)
    t.function.blocks = {label: t.blocks[label] for label in t.text if label in t.blocks}
    t.function.blocks.update((block.name, block) for block in t.own_blocks)
    fill_phis(t)
    t.function.entry.instructions[:0] = t.areas
    for instruction in t.atomics:
        if instruction.result not in t.used:
            instruction.result = None
        if isinstance(instruction, ins.CompareExchange) and instruction.success not in t.used:
            instruction.success = None


@contextmanager
def _refusing(t: Translator) -> Iterator[None]:
    try:
        yield
    except Unsupported as reason:
        t.refuse(reason)


def _translate_from(t: Translator, block: Block) -> None:
    """Translate a block, whose beginning there may be, and all that it leads to. Blocks that cannot be reached are left
    out. A definition dominates its uses, so whatever path leads to a block first, the values that it uses have been
    translated by then."""
    t.blocks[block.name] = block
    todo = [block.name]
    while todo:
        t.label = label = todo.pop()
        t.block = t.blocks[label]
        t.location = t.function.location
        if not t.ended:
            _translate_block(t, t.text[label])
        t.ends[label] = t.block
        for successor in reversed(successors(t.block)):
            if successor in t.text and successor not in t.blocks:
                t.blocks[successor] = Block(successor)
                todo.append(successor)
    note_phis(t)


def _enter(t: Translator) -> None:
    """Parameters, and what a call does on its way in."""
    header = t.module.header(t.definition.name)
    results = leaves(header.returns)
    t.function.returns = results[0][1] if len(results) == 1 else None
    if len(results) > 1:
        t.result_area = _parameter(t, "result")
    copies: list[tuple[Register, LLVMType, str]] = []
    for parameter in header.parameters:
        registers = t.define(parameter.name, parameter.type)
        t.function.parameters += registers
        if parameter.attributes.byval is not None:
            copies.append((registers[0], parameter.attributes.byval, parameter.name))
    if header.variadic:
        t.extra_arguments = _parameter(t, "arguments")
        t.registers_before = registers_taken((each.type, each.attributes) for each in header.parameters)
    if runs_atomically(t):
        t.emit(ins.AtomicBegin())
    for source, type_, name in copies:
        own = t.stack_alloc(size_of(type_), name)
        copy(t, own, source, Constant(I64, size_of(type_)), min(alignment(type_), 8), overlap=False)
        t.values[name] = [own]


def _parameter(t: Translator, name: str) -> Register:
    register = Register(t.fresh_name(name), PTR)
    t.function.parameters.append(register)
    return register


def _translate_block(t: Translator, block: Sequence[LLVMInstruction]) -> None:
    for instruction in block:
        if instruction.opcode[0] == "#":
            if (declare := _DECLARE.search(instruction.text)) is not None:
                _declare(t, name_of(declare[1]), int(declare[2]))
            continue
        if instruction.debug is not None:
            t.location = t.debug.location(instruction.debug) or t.location
        if t.location is not None and not t.module.library:
            t.location = replace(t.location, text=((t.module.origin, instruction.line),))
        try:
            _instruction(t, instruction.opcode, instruction.cursor(), instruction.result)
        except Unsupported as reason:
            t.refuse(reason)
            if instruction is block[-1] and not t.ended:
                _go_anywhere(t, instruction)
        if t.ended:
            return
    raise Unsupported(f"the block '{t.block.name}' has no end")


def _declare(t: Translator, name: str, number: int) -> None:
    """A variable of a block is another one each time its declaration is reached, in the same place, and holds nothing.
    That matters for what must not be initialised twice."""
    if t.function.library or not t.debug.is_nested(number) or len(t.values.get(name, ())) != 1:
        return
    _, type_ = t.debug.local_variable(number)
    for offset, size in t.debug.parts(type_, OPAQUE_TYPES):
        nothing = Constant(I8, 0, undefined=True)
        fill(t, t.offset(t.values[name][0], offset), nothing, Constant(I64, size), 8 if size % 8 == 0 else 4)


def _go_anywhere(t: Translator, instruction: LLVMInstruction) -> None:
    """In place of a jump that is not supported, one to all its targets, so that they are looked at, too."""
    labels = [name_of(after) for word, after in pairwise(instruction.tokens) if word == "label"]
    t.emit(ins.Switch(Constant(I64), list(enumerate(labels)), labels[0]) if labels else ins.Unreachable())


def _instruction(t: Translator, opcode: str, cursor: Cursor, result: str | None) -> None:
    if opcode in _INSTRUCTIONS:
        _INSTRUCTIONS[opcode](t, cursor, result)
    elif opcode in _REFUSED:
        raise Unsupported(_REFUSED[opcode])
    else:
        raise Unsupported(f"the LLVM instruction '{opcode}' is not supported")
