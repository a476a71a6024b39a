"""Run-time errors in words: what the machine calls `freed` becomes which block, allocated where, freed by whom."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mazurka.escaping import visible
from mazurka.executions.naming import Names
from mazurka.executions.positions import Source, shown_name
from mazurka.machine.layout import (
    MAX_CHOICES,
    MAX_FRAMES,
    MAX_INSTRUCTIONS,
    MAX_OBJECT_SIZE,
    MAX_SPACE,
    MAX_THREADS,
    OBJECT_LIMIT,
)
from mazurka.program.instructions import Binary, Call, EndThread, Fail, Offset
from mazurka.program.names import demangle, type_name
from mazurka.program.types import signed

if TYPE_CHECKING:
    from mazurka._native import Failure, ObjectInfo, Operation

# Errors about which there is no more to say than what they are.
PLAIN = {
    "stack_overflow": f"calls nest more than {MAX_FRAMES:,} deep, which is a limit of Mazurka; let the recursion "
    "end earlier",
    "too_many_threads": f"more than {MAX_THREADS} threads (but for those that were joined), which is a limit of "
    "Mazurka; reuse threads, or create fewer",
    "too_many_choices": f"a choice among more than {MAX_CHOICES:,} values, which is a limit of Mazurka; choose "
    "among fewer",
    "undefined_branch": "a branch depends on memory that was never written",
    "undefined_address": "an address depends on memory that was never written",
    "undefined_status": "the status that the program exits with depends on memory that was never written",
    "bad_call": "call through a pointer that is not a function with these parameters",
    "division_by_zero": "division by zero",
    "division_overflow": "the result of a division does not fit its type",
    "unreachable": "undefined behaviour: control arrives where the language says that it cannot",
    "await_outside_section": "a guard outside of an atomic section",
    "section_not_begun": "the end of an atomic section that was not begun",
    "section_not_ended": "the thread ends inside an atomic section",
    "too_many_instructions": f"no end within {MAX_INSTRUCTIONS:,} instructions without a step that others could see",
}


def explain(failure: Failure, source: Source, names: Names) -> str:
    """What went wrong."""
    instruction = source.instruction(failure.frames[0])
    if failure.fault in PLAIN:  # (a limit can be met at any instruction)
        return PLAIN[failure.fault]
    if isinstance(instruction, Fail):
        details = names.text(failure.address) if instruction.details is not None else None
        return _terminated(details) if details else instruction.message
    if isinstance(instruction, Binary) and instruction.checked:
        return _arithmetic(instruction, failure)
    if failure.fault == "exit_status":
        return _exit(failure, source)
    if isinstance(instruction, Call) and failure.address == 0:
        return "call of a null function pointer"
    info = names.object(failure.address)
    name = names.name(info, failure.thread)
    offset = failure.address - info.base
    size = f"{failure.size} byte" if failure.size == 1 else f"{failure.size} bytes"
    life = _Life(info, source, names)
    match failure.fault:
        case "too_large" if failure.size > MAX_OBJECT_SIZE:
            limit = f"Mazurka's limit is {OBJECT_LIMIT}"
            return f"object of {failure.size:,} bytes: {limit}; check the program with smaller sizes"
        case "too_large":
            most = f"more than {MAX_SPACE >> 30} GiB allocated by one thread"
            return f"{most}, which is a limit of Mazurka; let it allocate less in all"
        case "null":
            return "null pointer" + (f" (plus an offset of {offset})" if offset else "") + f": access to {size}"
        case "wild":
            return f"wild pointer: access to {size} at {failure.address:#x}, where no object is"
        case "bounds":
            where = f"{size} at offset {offset}" if offset >= 0 else f"{size} at {-offset} before the begin"
            return f"out of bounds: access to {where} of {name}{life.made()}"
        case "freed":
            place = names.place(failure.address, failure.size, failure.thread).name
            part = "" if place == name else f" of {place}"
            return f"use after free{part}: {name}{life.made()} was freed{life.ended()}"
        case "returned" if info.kind == "thread-local":
            variable, owner = names.name(info, info.owner), names.thread(info.owner)
            return f"use of the thread-local variable {variable} of {owner}, which has ended"
        case "returned":
            return f"use of the local variable {name} after its function {life.function()}returned"
        case "misaligned":
            return f"misaligned access: {size} at offset {offset} of {name}"
        case "read_only":
            return f"write to the constant {names.pointer(info.base, None, failure.thread).removeprefix('&')}"
        case "not_data":
            return f"access to {name} as if it were data"
        case "double_free":
            return f"double free: {name}{life.made()} was freed already{life.ended()}"
        case "outside_member":
            assert isinstance(instruction, Offset)
            index = signed(failure.size, 64)
            first = names.place(failure.address, instruction.scale, failure.thread).name
            return f"out of bounds: index {index} of the member array that begins at {first}"
        case "leaked":
            others = failure.size - 1
            more = f", and {others} more block{'' if others == 1 else 's'}" if others else ""
            return f"memory leak: {name}{life.made()} is lost when the process ends{more}"
        case "invalid_free":
            pointer = names.pointer(failure.address, None, failure.thread)
            return f"invalid free: {pointer} is not the begin of a block from malloc"
        case other:
            return other


def _terminated(said: str) -> str:
    """Why libc++abi has ended the program, in its own words."""
    found = re.fullmatch(r"terminating due to (\w+ exception) of type (\S+?)(: .*)?", said, re.DOTALL)
    if found is None:
        return "std::terminate was called" + ("" if said == "terminating" else f": {said}")
    what, type_, message = found.groups()
    return visible(f"{what} of type {type_name(type_)}{message or ''}")


def _arithmetic(instruction: Binary, failure: Failure) -> str:
    """Of these, the machine tells the operands."""
    bits = instruction.left.type.bits
    left, right = (signed(number, bits) for number in (failure.address, failure.size))
    if failure.fault == "shift_out_of_range":
        # (What is converted to the type of the left side before is not what it was.)
        by = f"by {right}" if right < (1 << 31) - 1 else "by a negative number or by far too much"
        return f"shift out of range: a number of {bits} bits is shifted {by}"
    sign = {"add": "+", "sub": "-", "mul": "*"}[instruction.op]
    shown = f"({right})" if right < 0 else f"{right}"
    return f"signed overflow: {left} {sign} {shown} does not fit {bits} bits"


def _exit(failure: Failure, source: Source) -> str:
    """The status that the process ends with, and what it was given as."""
    number = signed(failure.size, 32)
    function = source.function(failure.frames[0])
    if isinstance(source.instruction(failure.frames[0]), EndThread):
        how = f"main returns {number}"
    else:
        how = f"{demangle(function.name)}({number})" if function.library else f"exit {number}"
    return f"exit status {failure.size & 0xFF}: {how}"


class _Life:
    """When an object came to be, and when it ceased to."""

    def __init__(self, info: ObjectInfo, source: Source, names: Names) -> None:
        self._info = info
        self._source = source
        self._names = names
        self._made, self._ended = names.life(info)

    def made(self) -> str:
        return f" ({self._info.size} bytes{', allocated' + self._when(self._made) if self._made else ''})"

    def ended(self) -> str:
        return self._when(self._ended) if self._ended else ""

    def function(self) -> str:
        return f"{shown_name(self._source.function(self._info.site))} " if self._info.site >= 0 else ""

    def _when(self, operation: Operation) -> str:
        position = self._source.position(operation.frames)
        return (f" at {position}" if position else "") + f" by {self._names.thread(operation.thread)}"
