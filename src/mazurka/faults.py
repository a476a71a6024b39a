"""Run-time errors in words: what the machine calls `freed` becomes which block, allocated where, freed by whom."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mazurka.naming import Names
from mazurka.positions import Source
from mazurka.program.instructions import Call, Fail

if TYPE_CHECKING:
    from mazurka._native import Failure, ObjectInfo, Operation
    from mazurka.transforms.lowering import Lowered

# Where it is not the program that goes wrong: it needs more than there is room for.
LIMITS = frozenset({"too_large", "stack_overflow", "too_many_threads", "too_many_choices"})

# Errors about which there is no more to say than what they are.
_PLAIN = {
    "stack_overflow": "calls nest more than 4,096 deep, which is a limit of Mazurka; let the recursion end earlier",
    "too_many_threads": "more than 63 threads (those that have ended count), which is a limit of Mazurka; reuse "
    "threads, or create fewer",
    "too_many_choices": "a choice among more than 65,536 values, which is a limit of Mazurka; choose among fewer",
    "undefined_branch": "a branch depends on memory that was never written",
    "undefined_address": "an address depends on memory that was never written",
    "bad_call": "call through a pointer that is not a function with these parameters",
    "division_by_zero": "division by zero",
    "division_overflow": "the result of a division does not fit its type",
    "unreachable": "undefined behaviour: control arrives where the language says that it cannot",
    "await_outside_section": "a guard outside of an atomic section",
    "section_not_begun": "the end of an atomic section that was not begun",
    "section_not_ended": "the thread ends inside an atomic section",
    "too_many_instructions": "no end within 10,000,000 instructions without a step that others could see",
}


def explain(failure: Failure, operations: Iterable[Operation], source: Source, names: Names, lowered: Lowered) -> str:
    """What went wrong, from the failure and what had happened before it."""
    from mazurka import _native

    instruction = lowered.origin[failure.frames[0]][1]
    if isinstance(instruction, Fail):
        return instruction.message
    if failure.fault in _PLAIN:
        return _PLAIN[failure.fault]
    if isinstance(instruction, Call) and failure.address == 0:
        return "call of a null function pointer"
    info = names.object(failure.address)
    name = names.name(info, failure.thread)
    offset = failure.address - info.base
    size = f"{failure.size} byte" if failure.size == 1 else f"{failure.size} bytes"
    life = _Life(info, operations, source, names)
    match failure.fault:
        case "too_large" if failure.size > _native.MAX_OBJECT_SIZE:
            return f"object of {failure.size:,} bytes: Mazurka's limit is 32 MiB; check the program with smaller sizes"
        case "too_large":
            return "more than 1 GiB allocated by one thread, which is a limit of Mazurka; let it allocate less in all"
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
        case "invalid_free":
            pointer = names.pointer(failure.address, None, failure.thread)
            return f"invalid free: {pointer} is not the begin of a block from malloc"
        case other:
            return other


class _Life:
    """When an object came to be, and when it ceased to."""

    def __init__(self, info: ObjectInfo, operations: Iterable[Operation], source: Source, names: Names) -> None:
        self._info = info
        self._source = source
        self._names = names
        self._made: Operation | None = None
        self._ended: Operation | None = None
        for operation in operations:
            if operation.address == info.base and operation.kind == "allocate":
                self._made = operation
            elif operation.address == info.base and operation.kind == "free":
                self._ended = operation

    def made(self) -> str:
        return f" ({self._info.size} bytes{', allocated' + self._when(self._made) if self._made else ''})"

    def ended(self) -> str:
        return self._when(self._ended) if self._ended else ""

    def function(self) -> str:
        return f"{self._source.function(self._info.site).name} " if self._info.site >= 0 else ""

    def _when(self, operation: Operation) -> str:
        position = self._source.position(operation.frames)
        return (f" at {position}" if position else "") + f" by {self._names.thread(operation.thread)}"
