"""Indices of arrays that are members of structures.

An index that leaves such an array may stay inside of the object, where nothing else notices it. Clang steps through an
array by its own type only where the source has an array there, and not a pointer; so it is known how long it is. The
address behind its last element may be computed, as long as nothing is accessed there.

The last member of a structure may have more elements than its type says: it may be a flexible array, or what stood for
one before there were any. So these are left to the bounds of the object, and so is whatever a pointer was made of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mazurka.frontends.c.llvm import syntax as llvm
from mazurka.frontends.c.llvm.syntax import LLVMType, LLVMValue, size_of
from mazurka.program import instructions as ins
from mazurka.program.instructions import GlobalAddress, Register, Value
from mazurka.program.types import I8

if TYPE_CHECKING:
    from mazurka.frontends.c.translate.translator import Translator


def outside(index: int, count: int) -> str:
    """What is wrong with an index."""
    return f"out of bounds: index {index} of a member array of {count} element{'' if count == 1 else 's'}"


# How an element was found, in each dimension: the step by an index, or None if it is the end of the array, and how many
# elements there are.
Indices = tuple[tuple[ins.Offset | None, int], ...]


class MemberBounds:
    """What is known in a function of addresses in such arrays, if anybody wants to know it."""

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted
        self._arrays: dict[str, LLVMType] = {}  # by the names of their addresses
        self._elements: dict[Value, Indices] = {}  # by their addresses

    def has(self, t: Translator, base: LLVMValue, address: Value, array: LLVMType) -> bool:
        """Whether there is a member array of this type at an address."""
        if not self._wanted or not isinstance(array, llvm.Array) or array.count == 0:
            return False
        if isinstance(base, llvm.Local):
            return self._arrays.get(base.name) == array
        while isinstance(base, llvm.Expression) and base.operands:
            base = base.operands[0].value
        if not isinstance(base, llvm.Symbol) or not isinstance(address, GlobalAddress):
            return False
        definition = t.module.symbols.get(base.name)
        if definition is None or definition.kind != "variable":
            return False
        return _is_inner(t.module.variable(base.name).type, address.offset, array)

    def add_array(self, name: str | None, array: LLVMType) -> None:
        if self._wanted and name is not None:
            self._arrays[name] = array

    def add_element(self, address: Value, indices: Indices) -> None:
        """An element, or the end of an array. A row of an array has elements in turn."""
        if isinstance(address, Register) and indices:
            self._elements[address] = indices

    def indices(self, address: Value) -> Indices:
        return self._elements.get(address, ())

    def access(self, t: Translator, address: Value) -> bool:
        """Something is accessed at an address: there must be an element. False: there is none, and this is an error."""
        for step, count in self.indices(address):
            if step is None:
                t.emit(ins.Fail("memory", outside(count, count)))
                return False
            step.limit = count
        return True


def is_inner(structure: llvm.Structure, index: int) -> bool:
    """Whether a member is surely not the last one. Bytes at the end may be padding."""
    member, following = structure.elements[index], structure.elements[index + 1 :]
    if isinstance(member, llvm.Array) and member.count <= 1:
        return not all(isinstance(other, llvm.Array) and other.element == llvm.Scalar(I8) for other in following)
    return bool(following)


def _is_inner(type_: LLVMType, offset: int, array: LLVMType, inner: bool = False) -> bool:
    """Whether there is such a member array at an offset in an object of a type, which may be `inner` itself."""
    if type_ == array and offset == 0:
        return inner
    match type_:
        case llvm.Structure(elements):
            for index, start in enumerate(type_.offsets):
                if start <= offset < start + size_of(elements[index]):
                    return _is_inner(elements[index], offset - start, array, is_inner(type_, index))
            return False
        case llvm.Array(count, element) if count > 0 and size_of(element) > 0:
            return _is_inner(element, offset % size_of(element), array, inner)
        case _:
            return False
