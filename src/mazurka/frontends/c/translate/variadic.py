"""Variadic arguments, as they are passed on x86-64."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mazurka.frontends.c.llvm import syntax as llvm
from mazurka.frontends.c.llvm.syntax import LLVMType, Operand, Unsupported, leaves, size_of
from mazurka.frontends.c.translate.memory import copy, store_all
from mazurka.frontends.c.translate.translator import CallSite, Translator
from mazurka.program import instructions as ins
from mazurka.program.instructions import Constant, Value
from mazurka.program.types import I32, I64, PTR, Float

# The ABI's registers for arguments, which a variadic function saves one after the other: 8 bytes of each general one,
# 16 of each vector one.
_GENERAL_REGISTERS = 6
_VECTOR_REGISTERS = 8
_REGISTER_AREA = 8 * _GENERAL_REGISTERS + 16 * _VECTOR_REGISTERS

Argument = tuple[Operand, llvm.Attributes, list[Value]]


def registers_taken(arguments: Iterable[tuple[LLVMType, llvm.Attributes]]) -> tuple[int, int]:
    """How many general and how many vector registers arguments of these types ask for."""
    general = vector = 0
    for type_, attributes in arguments:
        if attributes.byval is not None:
            continue
        if isinstance(type_, llvm.Vector) or any(isinstance(leaf, Float) for _, leaf in leaves(type_)):
            vector += 1
        else:
            general += 2 if type_ == llvm.WIDE else 1
    return general, vector


def extra_arguments(t: Translator, fixed: Sequence[Argument], extra: Sequence[Argument]) -> Value:
    """Lay out variadic arguments as the x86-64 ABI does: those that are passed in registers where a function
    saves them, the others after that. The alignment of a structure that is passed in pieces shows only there.
    They are written before the call and only read during it, so that it does not matter which thread reads them."""
    if not extra:
        return Constant(PTR, 0)
    general, vector = registers_taken((operand.type, attributes) for operand, attributes, _ in fixed)
    position = _REGISTER_AREA
    slots: list[tuple[int, LLVMType, llvm.Attributes, list[Value]]] = []
    for operand, attributes, values in extra:
        type_ = attributes.byval or operand.type
        in_general, in_vector = registers_taken([(operand.type, attributes)])
        if in_general and general + in_general <= _GENERAL_REGISTERS:
            slots.append((8 * general, type_, attributes, values))
            general += in_general
        elif in_vector and vector < _VECTOR_REGISTERS:
            slots.append((8 * _GENERAL_REGISTERS + 16 * vector, type_, attributes, values))
            vector += 1
        else:
            align = max(attributes.align if attributes.byval is not None else llvm.alignment(type_), 8)
            position += -position % align
            slots.append((position, type_, attributes, values))
            position += (size_of(type_) + 7) // 8 * 8
    area = t.area(max(start + (size_of(type_) + 7) // 8 * 8 for start, type_, _, _ in slots))
    for start, type_, attributes, values in slots:
        slot = t.offset(area, start)
        if attributes.byval is None:
            store_all(t, values, type_, slot, 8)
        else:
            copy(t, slot, values[0], Constant(I64, size_of(type_)), min(llvm.alignment(type_), 8), overlap=False)
    return area


def va_start(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    """A va_list, with its arguments where `extra_arguments` puts them."""
    if t.extra_arguments is None:
        raise Unsupported("va_start is used in a function without variadic arguments")
    general, vector = t.registers_before
    fields: list[tuple[int, Value]] = [
        (0, Constant(I32, 8 * min(general, _GENERAL_REGISTERS))),
        (4, Constant(I32, 8 * _GENERAL_REGISTERS + 16 * min(vector, _VECTOR_REGISTERS))),
        (8, t.offset(t.extra_arguments, _REGISTER_AREA)),
        (16, t.extra_arguments),
    ]
    for offset, value in fields:
        t.emit(ins.Store(value, t.offset(arguments[0], offset), align=value.type.size))
    return []


def va_copy(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    copy(t, arguments[0], arguments[1], Constant(I64, 24), 8, overlap=False)
    return []
