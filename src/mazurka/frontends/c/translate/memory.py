"""Accesses to memory, and copies of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from mazurka.frontends.c import roles
from mazurka.frontends.c.llvm.syntax import WIDE, Cursor, LLVMType, Scalar, Unsupported, leaves, size_of
from mazurka.frontends.c.translate.translator import Translation, Translator
from mazurka.program import instructions as ins
from mazurka.program.instructions import Constant, Location, Register, Value
from mazurka.program.program import GlobalVariable
from mazurka.program.types import I1, I8, I32, I64, PTR, Float, Int, Type

_UPDATE_OPS: dict[str, ins.UpdateOp] = {
    "xchg": "exchange", "add": "add", "sub": "sub", "and": "and", "or": "or", "xor": "xor", "nand": "nand",
    "max": "max", "min": "min", "umax": "umax", "umin": "umin",
}  # fmt: skip
_ORDERINGS: dict[str, ins.Ordering] = {
    "unordered": "relaxed", "monotonic": "relaxed", "acquire": "acquire", "release": "release",
    "acq_rel": "acq_rel", "seq_cst": "seq_cst",
}  # fmt: skip

# What C calls them in a `memory_order`.
_ORDER_NUMBERS: dict[ins.Ordering, int] = {"relaxed": 0, "acquire": 2, "release": 3, "acq_rel": 4, "seq_cst": 5}

# A copy of at most so many bytes is done on the spot, of single bytes at most so many.
_INLINE_COPY = 64
_INLINE_BYTES = 16


def load(
    t: Translator, address: Value, type_: Type, ordering: ins.Ordering, align: int, name: str | None = None
) -> Value:
    """Read a scalar. One that is wider than its alignment, or whose size is not a power of 2, is not a single
    access for any compiler: it is read piece by piece into memory of our own, and from there as a whole."""
    size = (type_.bits + 7) // 8
    if size == type_.size and (align >= size or ordering != "plain"):
        return t.compute(type_, ins.Load(address, ordering, align), name)
    area = t.area(type_.size)
    if size != type_.size:
        t.emit(ins.Store(Constant(Int(8 * type_.size), 0), area))
    _copy_pieces(t, area, address, _pieces(size, align), align, overlap=False)
    return _fit_width(t, t.compute(_memory_type(type_), ins.Load(area)), type_)


def store(t: Translator, value: Value, address: Value, ordering: ins.Ordering, align: int) -> None:
    """Write a scalar, with the same care as `load`."""
    type_ = value.type
    size = (type_.bits + 7) // 8
    if size == type_.size and (align >= size or ordering != "plain"):
        t.emit(ins.Store(value, address, ordering, align))
        return
    area = t.area(type_.size)
    t.emit(ins.Store(_fit_width(t, value, _memory_type(type_)), area))
    _copy_pieces(t, address, area, _pieces(size, align), align, overlap=False)


def _fit_width(t: Translator, value: Value, type_: Type) -> Value:
    if value.type == type_:
        return value
    return t.compute(type_, ins.Convert("trunc" if type_.bits < value.type.bits else "zext", value))


def load_all(t: Translator, address: Value, type_: LLVMType, align: int, name: str | None = None) -> list[Value]:
    """Read every scalar of a type, as plain accesses."""
    parts = leaves(type_)
    return [
        load(t, t.offset(address, offset), leaf, "plain", _align_at(align, offset), name if len(parts) == 1 else None)
        for offset, leaf in parts
    ]


def store_all(t: Translator, values: Sequence[Value], type_: LLVMType, address: Value, align: int) -> None:
    for value, (offset, _) in zip(values, leaves(type_), strict=True):
        store(t, value, t.offset(address, offset), "plain", _align_at(align, offset))


def copy(t: Translator, target: Value, source: Value, size: Value, align: int, overlap: bool) -> None:
    """Copy memory in pieces as wide as the alignment allows: others may see it half done."""
    if isinstance(size, Constant) and int(size.value) <= (_INLINE_COPY if align > 1 else _INLINE_BYTES):
        _copy_pieces(t, target, source, _pieces(int(size.value), align), align, overlap)
        return
    function = "__mazurka_move" if overlap else "__mazurka_copy"
    chunk = Constant(I64, align if align > 1 else 0)
    t.call_library(function, [target, source, t.fit(size, I64), chunk])


def _copy_pieces(
    t: Translator, target: Value, source: Value, pieces: Sequence[tuple[int, int]], align: int, overlap: bool
) -> None:
    stores: list[tuple[Value, int, int]] = []
    for offset, width in pieces:
        piece = t.compute(Int(8 * width), ins.Load(t.offset(source, offset), align=min(width, align)))
        stores.append((piece, offset, width))
        if not overlap:
            _store_piece(t, target, *stores.pop(), align)
    for each in stores:
        _store_piece(t, target, *each, align)


def _store_piece(t: Translator, target: Value, piece: Value, offset: int, width: int, align: int) -> None:
    t.emit(ins.Store(piece, t.offset(target, offset), align=min(width, align)))


def fill(t: Translator, target: Value, byte: Value, size: Value, align: int) -> None:
    """Set memory to a byte, in pieces like `copy`."""
    inline = isinstance(byte, Constant) or align == 1
    if inline and isinstance(size, Constant) and int(size.value) <= (_INLINE_COPY if align > 1 else _INLINE_BYTES):
        for offset, width in _pieces(int(size.value), align):
            piece = byte
            if isinstance(byte, Constant):
                pattern = int.from_bytes(bytes([int(byte.value)]) * width, "little")
                piece = Constant(Int(8 * width), pattern, byte.undefined)
            _store_piece(t, target, piece, offset, width, align)
        return
    t.call_library("__mazurka_fill", [target, byte, t.fit(size, I64)])


def _memory_type(type_: Type) -> Type:
    """The type with which memory as large as a value of `type_` is accessed as a whole."""
    return type_ if type_.bits == 8 * type_.size else Int(8 * type_.size)


def _align_at(align: int, offset: int) -> int:
    """The alignment that is known of an address at an offset from an aligned one."""
    return align if offset == 0 else min(align, offset & -offset)


def _pieces(size: int, align: int) -> list[tuple[int, int]]:
    """Cut `size` bytes into (offset, width), as wide as the alignment allows, at most 8."""
    pieces, offset, width = [], 0, min(align, 8)
    while offset < size:
        while width > size - offset:
            width //= 2
        pieces.append((offset, width))
        offset += width
    return pieces


# ------------------------------------------------------------------------------------------- 16 bytes at once

# A structure of 16 bytes is atomically accessed as an i128, whose value is two words.


def _wide_area(t: Translator, values: Sequence[Value] = ()) -> Register:
    area = t.area(16)
    for offset, value in zip((0, 8), values, strict=False):
        t.emit(ins.Store(value, t.offset(area, offset), align=8))
    return area


def _wide_load(t: Translator, address: Value, ordering: ins.Ordering, align: int) -> list[Value]:
    if ordering != "plain":
        area = _wide_area(t)
        _wide_call(t, "__atomic_load", [address, area], [ordering])
        address, align = area, 8
    return [load(t, t.offset(address, offset), I64, "plain", align) for offset in (0, 8)]


def _wide_store(t: Translator, values: Sequence[Value], address: Value, ordering: ins.Ordering, align: int) -> None:
    if ordering != "plain":
        _wide_call(t, "__atomic_store", [address, _wide_area(t, values)], [ordering])
        return
    for offset, value in zip((0, 8), values, strict=True):
        store(t, value, t.offset(address, offset), "plain", align)


def _wide_call(t: Translator, name: str, addresses: Sequence[Value], orders: Sequence[ins.Ordering]) -> Register | None:
    """An atomic operation of the library, on 16 bytes. Whatever its order is, it is sequentially consistent."""
    numbers = [Constant(I32, _ORDER_NUMBERS[order]) for order in orders]
    return t.call_library(name, [Constant(I64, 16), *addresses, *numbers])


# ---------------------------------------------------------------------------------------------- instructions


@dataclass(frozen=True, slots=True)
class _How:
    """In which way an access is made. `failure`: of a compare-exchange."""

    ordering: ins.Ordering
    failure: ins.Ordering | None
    align: int


def _how(cursor: Cursor, type_: LLVMType) -> _How:
    """`[syncscope("...")] [ordering [ordering]] [, align N]`

    An atomic access must be aligned as it is wide, also where clang knows that it is not (in a packed structure, behind
    a cast): it would be torn otherwise. More than 8 is not asked for: no access is wider, and clang itself promises too
    much where a `va_arg` takes a structure of a larger alignment out of saved registers."""
    if cursor.accept("syncscope"):
        cursor.skip_group()
    orders: list[ins.Ordering] = []
    while cursor.peek() in _ORDERINGS:
        orders.append(_ORDERINGS[cursor.next()])
    align = 1
    if cursor.accept(",") and cursor.accept("align"):
        align = min(int(cursor.next()), 8)
    if orders:
        align = min(size_of(type_), 8)
    return _How(orders[0] if orders else "plain", orders[1] if len(orders) > 1 else None, align)


def _alloca(t: Translator, cursor: Cursor, result: str | None) -> None:
    cursor.skip_words()
    type_ = cursor.type()
    assert result is not None
    size = size_of(type_)
    if cursor.peek() == "," and cursor.peek(1) not in ("align", "addrspace") and cursor.peek(1)[0] != "!":
        cursor.next()
        count = t.scalar(cursor.operand())
        if not isinstance(count, Constant):
            scaled = t.binary("mul", t.fit(count, I64), Constant(I64, size))
            t.bind(result, [t.stack_alloc(scaled, result)])
            return
        size *= int(count.value)
    t.bind(result, [t.stack_alloc(size, result)])


def _load(t: Translator, cursor: Cursor, result: str | None) -> None:
    cursor.skip_words()
    type_ = cursor.type()
    cursor.expect(",")
    address = t.scalar(cursor.operand())
    if not t.bounds.access(t, address):
        return
    how = _how(cursor, type_)
    ordering, align = how.ordering, how.align
    if type_ == WIDE:
        t.bind(result, _wide_load(t, address, ordering, align))
    elif isinstance(type_, Scalar):
        t.bind(result, [load(t, address, type_.type, ordering, align, result)])
    else:
        t.bind(result, load_all(t, address, type_, align, result))


def _store(t: Translator, cursor: Cursor, result: str | None) -> None:
    cursor.skip_words()
    operand = cursor.operand()
    cursor.expect(",")
    address = t.scalar(cursor.operand())
    if not t.bounds.access(t, address):
        return
    how = _how(cursor, operand.type)
    ordering, align = how.ordering, how.align
    values = t.operand(operand)
    if operand.type == WIDE:
        _wide_store(t, values, address, ordering, align)
    elif isinstance(operand.type, Scalar):
        store(t, values[0], address, ordering, align)
    else:
        store_all(t, values, operand.type, address, align)


def _update(t: Translator, cursor: Cursor, result: str | None) -> None:
    cursor.accept("volatile")
    op = cursor.next()
    address = t.scalar(cursor.operand())
    if not t.bounds.access(t, address):
        return
    cursor.expect(",")
    operand = cursor.operand()
    how = _how(cursor, operand.type)
    ordering, align = how.ordering, how.align
    if operand.type == WIDE and op == "xchg":
        old_area = _wide_area(t)
        _wide_call(t, "__atomic_exchange", [address, _wide_area(t, t.operand(operand)), old_area], [ordering])
        t.bind(result, _wide_load(t, old_area, "plain", 8))
        return
    value = t.scalar(operand)
    type_ = value.type
    if op in ("fadd", "fsub"):
        # An atomic section is one event, as an update is.
        t.emit(ins.AtomicBegin())
        old = t.compute(type_, ins.Load(address, ordering, align), result)
        t.emit(ins.Store(t.binary(cast(ins.BinaryOp, op), old, value), address, ordering, align))
        t.emit(ins.AtomicEnd())
        t.bind(result, [old])
        return
    if op not in _UPDATE_OPS:
        raise Unsupported(f"the atomic operation '{op}' is not supported; use a loop with a compare-exchange")
    if isinstance(type_, Float):
        value = t.compute(Int(type_.bits), ins.Convert("bitcast", value))
    update = ins.Update(_UPDATE_OPS[op], address, value, ordering, align)
    old = t.compute(value.type, update, result)
    if isinstance(type_, Float):
        old = t.compute(type_, ins.Convert("bitcast", old))
    else:
        t.atomics.append(update)
    t.bind(result, [old])


def _compare_exchange(t: Translator, cursor: Cursor, result: str | None) -> None:
    weak = False
    while cursor.peek() in ("weak", "volatile"):
        weak |= cursor.next() == "weak"
    address = t.scalar(cursor.operand())
    if not t.bounds.access(t, address):
        return
    cursor.expect(",")
    operands = [cursor.operand()]
    cursor.expect(",")
    operands.append(cursor.operand())
    how = _how(cursor, operands[0].type)
    assert result is not None
    if operands[0].type == WIDE:
        areas = [_wide_area(t, t.operand(operand)) for operand in operands]
        orders = [how.ordering, how.failure or how.ordering]
        swapped = _wide_call(t, "__atomic_compare_exchange", [address, *areas], orders)
        assert swapped is not None
        t.bind(result, [*_wide_load(t, areas[0], "plain", 8), swapped])
        return
    expected, desired = (t.scalar(operand) for operand in operands)
    success = Register(t.fresh_name(f"{result}.1"), I1)
    instruction = ins.CompareExchange(address, expected, desired, success, how.ordering, how.align, how.failure)
    if weak and t.linker.leeway.spurious:
        t.bind(result, _weak_compare_exchange(t, instruction))
        return
    old = t.compute(expected.type, instruction, t.fresh_name(f"{result}.0"))
    t.atomics.append(instruction)
    t.bind(result, [old, success])


def _weak_compare_exchange(t: Translator, exchange: ins.CompareExchange) -> list[Value]:
    """One that may fail although the location holds what is expected: then it is a read, and waits for that value,
    since with another one it would fail anyway.

    A thread remembers of each such instruction whether it has failed so since it last succeeded, and then does not let
    it fail so again: otherwise `while (!compare_exchange_weak(…))` would have infinitely many executions, of which all
    but the first rounds only repeat what the one before did. It is remembered nowhere else: where the exchange fails
    for a reason, nothing is written, so that a loop that waits for it is one that only waits."""
    program = t.linker.program
    name = f"__mazurka_spurious.{sum(name.startswith('__mazurka_spurious.') for name in program.globals)}"
    program.globals[name] = GlobalVariable(name, bytes(1), thread_local=True, location=Location("<mazurka>", 0))
    flag = t.compute(PTR, ins.ThreadLocalAddress(name))
    choosing, failing, swapping, resetting, after = (
        t.new_block(f"weak.{part}") for part in ("choose", "fail", "swap", "reset", "end")
    )
    fresh = t.compare("eq", t.compute(I8, ins.Load(flag)), Constant(I8, 0))
    t.emit(ins.Branch(fresh, choosing.name, swapping.name))

    t.block = choosing
    fails = t.compare(
        "ne", t.compute(I32, ins.Choose(Constant(I32, 2)), t.fresh_name(roles.SPURIOUS)), Constant(I32, 0)
    )
    t.emit(ins.Branch(fails, failing.name, swapping.name))

    t.block = failing
    t.emit(ins.AtomicBegin(guarded=True))
    seen = t.compute(exchange.expected.type, ins.Load(exchange.address, exchange.failure_ordering, exchange.align))
    t.emit(ins.Assume(t.compare("eq", seen, exchange.expected)))
    t.emit(ins.AtomicEnd())
    t.emit(ins.Store(Constant(I8, 1), flag))
    t.emit(ins.Jump(after.name))

    t.block = swapping
    old = t.compute(exchange.expected.type, exchange)
    assert exchange.success is not None
    t.emit(ins.Branch(exchange.success, resetting.name, after.name))

    t.block = resetting
    t.emit(ins.Store(Constant(I8, 0), flag))
    t.emit(ins.Jump(after.name))

    t.block = after
    results = Register(t.fresh_name("old"), old.type), Register(t.fresh_name("success"), I1)
    sources = (swapping.name, resetting.name)
    after.phis.append(ins.Phi(results[0], [(failing.name, seen), *((name, old) for name in sources)]))
    answers: list[tuple[str, Value]] = [(failing.name, Constant(I1, 0))]
    answers += ((name, exchange.success) for name in sources)
    after.phis.append(ins.Phi(results[1], answers))
    return list(results)


def _fence(t: Translator, cursor: Cursor, result: str | None) -> None:
    """One between threads. (One for signal handlers orders what a thread does for itself, which is ordered.)"""
    if not cursor.accept("syncscope"):
        t.emit(ins.Fence(_ORDERINGS[cursor.next()]))


INSTRUCTIONS: dict[str, Translation] = {
    "alloca": _alloca,
    "load": _load,
    "store": _store,
    "atomicrmw": _update,
    "cmpxchg": _compare_exchange,
    "fence": _fence,
}
