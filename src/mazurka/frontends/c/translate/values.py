"""Instructions that compute."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import cast, get_args

from mazurka.frontends.c.llvm import syntax as llvm
from mazurka.frontends.c.llvm.syntax import WIDE, Cursor, LLVMType, Operand, Unsupported, leaves, name_of, size_of
from mazurka.frontends.c.translate import wide
from mazurka.frontends.c.translate.members import Indices, is_inner, outside
from mazurka.frontends.c.translate.memory import load_all, store_all
from mazurka.frontends.c.translate.translator import Translation, Translator
from mazurka.program import instructions as ins
from mazurka.program.instructions import Constant, Register, Value
from mazurka.program.types import I1, I64, PTR, Type, signed

_REINTERPRETATIONS = frozenset(("bitcast", "addrspacecast", "ptrtoint", "ptrtoaddr", "inttoptr"))

_SHIFTS = frozenset(("shl", "lshr", "ashr"))
# How clang calls what it makes of the right side of a shift whose left side has another type. (A conversion in the
# source has another name: what it cuts off is gone.)
_SHIFTED_BY = "sh_prom"


def _pair(t: Translator, cursor: Cursor) -> tuple[LLVMType, list[Value], list[Value]]:
    """`type left, right`"""
    cursor.skip_words()
    type_ = cursor.type()
    leaves(type_)  # refuses what nothing can be computed with
    left = t.operand(Operand(type_, cursor.value(type_)))
    cursor.expect(",")
    return type_, left, t.operand(Operand(type_, cursor.value(type_)))


def _name(result: str | None, parts: Sequence[object]) -> str | None:
    """The name for the register of a value that is a single scalar."""
    return result if len(parts) == 1 else None


def _binary(op: ins.BinaryOp, t: Translator, cursor: Cursor, result: str | None) -> None:
    signed_only = False
    while cursor.peek() in ("nuw", "nsw"):
        signed_only |= cursor.next() == "nsw"
    type_, left, right = _pair(t, cursor)
    name = _name(result, left)
    checked = t.checks_overflow and (op in _SHIFTS or (op in ins.CHECKABLE and signed_only))
    if type_ == WIDE:
        t.bind(result, wide.binary(t, op, left, right, checked))
        return
    t.bind(result, [t.compute(a.type, ins.Binary(op, a, b, checked), name) for a, b in zip(left, right, strict=True)])


def _compare(opcode: str, t: Translator, cursor: Cursor, result: str | None) -> None:
    floating = opcode == "fcmp"
    word = cursor.next()
    while not cursor.at_type():  # flags come before the predicate
        word = cursor.next()
    type_, left, right = _pair(t, cursor)
    if isinstance(type_, llvm.Vector):
        raise Unsupported("a comparison of vectors is not supported")
    if floating and word in ("true", "false"):
        t.bind(result, [Constant(I1, int(word == "true"))])
        return
    predicate = cast(ins.Predicate, f"f{word}" if floating else word)
    if type_ == WIDE:
        t.bind(result, [wide.compare(t, predicate, left, right)])
        return
    t.bind(result, [t.compute(I1, ins.Compare(predicate, left[0], right[0]), result)])


def _negate(t: Translator, cursor: Cursor, result: str | None) -> None:
    cursor.skip_words()
    values = t.operand(cursor.operand())
    name = _name(result, values)
    t.bind(result, [t.compute(value.type, ins.Unary("fneg", value), name) for value in values])


def _convert(opcode: str, t: Translator, cursor: Cursor, result: str | None) -> None:
    cursor.skip_words()
    operand = cursor.operand()
    cursor.expect("to")
    type_ = cursor.type()
    leaves(operand.type)  # refuses what nothing can be computed with
    values = t.operand(operand)
    targets = [leaf for _, leaf in leaves(type_)]
    if opcode in _REINTERPRETATIONS:
        t.bind(result, _reinterpret(t, values, operand.type, type_, result))
        return
    if WIDE in (operand.type, type_):
        t.bind(result, wide.convert(t, cast(ins.ConvertOp, opcode), values, targets))
        return
    name = _name(result, values)
    if opcode == "trunc" and t.checks_overflow and result is not None and result.startswith(_SHIFTED_BY):
        (number,), (narrow,) = values, targets
        t.bind(result, [_shifted_by(t, number, narrow, result)])
        return
    t.bind(
        result,
        [
            t.compute(target, ins.Convert(cast(ins.ConvertOp, opcode), value), name)
            for value, target in zip(values, targets, strict=True)
        ],
    )


def _shifted_by(t: Translator, number: Value, type_: Type, name: str) -> Value:
    """By how much a number of a smaller type is shifted. Clang cuts off the upper bits, but what is out of range has to
    stay so: any number that is will do."""
    fits = t.compute(I1, ins.Compare("ult", number, Constant(number.type, type_.bits)))
    narrow = t.compute(type_, ins.Convert("trunc", number))
    return t.compute(type_, ins.Select(fits, narrow, Constant(type_, (1 << (type_.bits - 1)) - 1)), name)


def _reinterpret(
    t: Translator, values: list[Value], have: LLVMType, want: LLVMType, result: str | None
) -> Sequence[Value]:
    """The same bits as another type."""
    types = [leaf for _, leaf in leaves(want)]
    if [value.type for value in values] == types:
        return values
    if len(values) == len(types) == 1:
        value, type_ = values[0], types[0]
        if value.type.bits == type_.bits:
            return [t.compute(type_, ins.Convert("bitcast", value), result)]
        return [t.fit(value, type_)]
    area = t.area(size_of(have))
    store_all(t, values, have, area, 8)
    return load_all(t, area, want, 8)


def _select(t: Translator, cursor: Cursor, result: str | None) -> None:
    cursor.skip_words()
    condition = t.scalar(cursor.operand())
    cursor.expect(",")
    if_true = t.operand(cursor.operand())
    cursor.expect(",")
    if_false = t.operand(cursor.operand())
    name = _name(result, if_true)
    t.bind(
        result,
        [t.compute(yes.type, ins.Select(condition, yes, no), name) for yes, no in zip(if_true, if_false, strict=True)],
    )


def _freeze(t: Translator, cursor: Cursor, result: str | None) -> None:
    t.bind(result, t.operand(cursor.operand()))


def _get_element(t: Translator, cursor: Cursor, result: str | None) -> None:
    cursor.skip_words()
    record = cursor.peek()
    source = cursor.type()
    cursor.expect(",")
    base = cursor.operand()
    address = t.scalar(base)
    if record[0] == "%" and isinstance(address, Register):
        pointee = t.debug.record(name_of(record), size_of(source))
        address.point_to(*[pointee] if pointee else [])
    member = t.bounds.has(t, base.value, address, source)  # whether what is stepped through is a member array
    displacement, first = 0, True
    scaled: ins.Offset | None = None
    indices: Indices = t.bounds.indices(address) if member else ()
    while cursor.accept(",") and cursor.at_type():
        operand = cursor.operand()
        step = size_of(source) if first else 0
        index = t.scalar(operand)
        if not first and isinstance(source, llvm.Structure):
            assert isinstance(index, Constant)
            if not t.bounds.access(t, address):
                return
            member, indices = is_inner(source, int(index.value)), ()
            offset, source = llvm.element_at(source, int(index.value))
            displacement += offset
            continue
        count = source.count if not first and member and isinstance(source, llvm.Array) else 0
        if first and index != Constant(index.type, 0):
            member, indices = False, ()
        if not first:
            step, source = llvm.element_at(source, 1)
        first = False
        if isinstance(index, Constant):
            number = signed(int(index.value), index.type.bits)
            if count and not 0 <= number <= count:
                t.emit(ins.Fail("memory", outside(number, count)))
                return
            if count and number == count:
                indices += ((None, count),)
            displacement += step * number
        else:
            wide = index
            if index.type.bits < 64:
                wide = t.compute(I64, ins.Convert("sext", index))
            scaled = ins.Offset(address, wide, step, limit=count + 1 if 0 < count < 1 << 30 else None)
            if scaled.limit is not None:
                indices += ((scaled, count),)
            address = t.compute(PTR, scaled)
    if scaled is not None:
        scaled.displacement = displacement
    else:
        address = t.offset(address, displacement)
    t.bounds.add_element(address, indices)
    if member and isinstance(source, llvm.Array):
        t.bounds.add_array(result, source)
    t.bind(result, [address])


def _slice(t: Translator, type_: LLVMType, cursor: Cursor) -> tuple[int, int]:
    """Which scalars of an aggregate the indices mean: the first, and how many."""
    start = 0
    while cursor.accept(",") and cursor.peek().isdigit():
        index = int(cursor.next())
        if isinstance(type_, llvm.Structure):
            start += sum(_scalars(element) for element in type_.elements[:index])
            type_ = type_.elements[index]
        else:
            _, type_ = llvm.element_at(type_, index)
            start += index * _scalars(type_)
    return start, _scalars(type_)


def _extract_value(t: Translator, cursor: Cursor, result: str | None) -> None:
    operand = cursor.operand()
    start, count = _slice(t, operand.type, cursor)
    # Taking a part is no use of the others: a compare-exchange of which only the success matters reads no value.
    t.bind(result, t.parts(operand.type, operand.value)[start : start + count])


def _insert_value(t: Translator, cursor: Cursor, result: str | None) -> None:
    operand = cursor.operand()
    cursor.expect(",")
    part = t.operand(cursor.operand())
    start, count = _slice(t, operand.type, cursor)
    values = list(t.parts(operand.type, operand.value))
    values[start : start + count] = part
    t.bind(result, values)


def _element_index(t: Translator, cursor: Cursor) -> int:
    cursor.expect(",")
    index = t.scalar(cursor.operand())
    if not isinstance(index, Constant):
        raise Unsupported("an element of a vector at an index that is not constant is not supported; use an array")
    return int(index.value)


def _extract_element(t: Translator, cursor: Cursor, result: str | None) -> None:
    values = t.operand(cursor.operand())
    t.bind(result, [values[_element_index(t, cursor)]])


def _insert_element(t: Translator, cursor: Cursor, result: str | None) -> None:
    values = list(t.operand(cursor.operand()))
    cursor.expect(",")
    element = t.scalar(cursor.operand())
    values[_element_index(t, cursor)] = element
    t.bind(result, values)


def _shuffle(t: Translator, cursor: Cursor, result: str | None) -> None:
    left = t.operand(cursor.operand())
    cursor.expect(",")
    right = t.operand(cursor.operand())
    cursor.expect(",")
    mask = t.operand(cursor.operand())
    values = left + right
    t.bind(
        result,
        [
            Constant(values[0].type, undefined=True) if index.undefined else values[int(index.value)]
            for index in mask
            if isinstance(index, Constant)
        ],
    )


def _scalars(type_: LLVMType) -> int:
    """How many scalars a value of a type is."""
    return len(leaves(type_))


INSTRUCTIONS: dict[str, Translation] = {
    **{op: partial(_binary, op) for op in get_args(ins.BinaryOp)},
    **{opcode: partial(_convert, opcode) for opcode in (*get_args(ins.ConvertOp), *_REINTERPRETATIONS)},
    **{opcode: partial(_compare, opcode) for opcode in ("icmp", "fcmp")},
    "fneg": _negate,
    "select": _select,
    "freeze": _freeze,
    "getelementptr": _get_element,
    "extractvalue": _extract_value,
    "insertvalue": _insert_value,
    "extractelement": _extract_element,
    "insertelement": _insert_element,
    "shufflevector": _shuffle,
}
