"""From a function in LLVM's text to a function of the program.

Values that are aggregates in LLVM (small structures in registers, the pair that a compare-exchange gives, vectors)
are taken apart: every LLVM value is a list of scalars. A function that returns several scalars gets the address to
store them at as a hidden first parameter; a variadic one gets the address of its extra arguments as a hidden last one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast, get_args

from mazurka.errors import InputError
from mazurka.frontends.c import builtins
from mazurka.frontends.c.linker import Address, Linker
from mazurka.frontends.c.module import Definition
from mazurka.frontends.c.syntax import (
    Aggregate,
    Assembly,
    Attributes,
    Characters,
    Cursor,
    Expression,
    FunctionType,
    LLVMType,
    LLVMValue,
    Local,
    Operand,
    Other,
    Scalar,
    Structure,
    Symbol,
    Undefined,
    Unsupported,
    Vector,
    Zero,
    alignment,
    element_at,
    leaves,
    name_of,
    size_of,
)
from mazurka.program.instructions import (
    AtomicBegin,
    AtomicEnd,
    Binary,
    BinaryOp,
    Branch,
    Call,
    Compare,
    CompareExchange,
    Constant,
    Convert,
    ConvertOp,
    FunctionAddress,
    GlobalAddress,
    Instruction,
    Jump,
    Load,
    Offset,
    Ordering,
    Phi,
    Predicate,
    Register,
    Return,
    Select,
    StackAlloc,
    Store,
    Switch,
    Terminator,
    ThreadLocalAddress,
    Unary,
    Unreachable,
    Update,
    UpdateOp,
    Value,
)
from mazurka.program.program import Block, Function
from mazurka.program.types import I1, I8, I32, I64, PTR, Float, Int, Type

_LOCAL = re.compile(r'%(?:"[^"]*"|[-\w.$]+)')
_DEBUG = re.compile(r"!dbg !(\d+)")
_DECLARE = re.compile(r'#dbg_declare\(ptr (%(?:"[^"]*"|[-\w.$]+)), !(\d+), !DIExpression\(\)')

_BINARY_OPS = frozenset(get_args(BinaryOp))
_CONVERSIONS = frozenset(get_args(ConvertOp)) | {"ptrtoint", "ptrtoaddr", "inttoptr", "addrspacecast"}
_UPDATE_OPS: dict[str, UpdateOp] = {
    "xchg": "exchange", "add": "add", "sub": "sub", "and": "and", "or": "or", "xor": "xor", "nand": "nand",
    "max": "max", "min": "min", "umax": "umax", "umin": "umin",
}  # fmt: skip
_ORDERINGS: dict[str, Ordering] = {
    "unordered": "relaxed", "monotonic": "relaxed", "acquire": "acquire", "release": "release",
    "acq_rel": "acq_rel", "seq_cst": "seq_cst",
}  # fmt: skip
# Assembly that only orders accesses or gives the processor a hint: nothing to do, as all accesses are ordered anyway.
_HINTS = frozenset({"", "nop", "pause", "rep; nop", "rep nop", "mfence", "lfence", "sfence"})

# A copy of at most so many bytes is done on the spot, of single bytes at most so many.
_INLINE_COPY = 64
_INLINE_BYTES = 16


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call as it is written: what is called, with what, and what it gives (`leaves` of `returns`)."""

    callee: LLVMValue
    type: FunctionType
    arguments: list[tuple[Operand, Attributes]]
    result: str | None

    @property
    def returns(self) -> LLVMType:
        return self.type.returns


@dataclass(slots=True)
class _PendingPhi:
    """A phi whose operands may not have been translated when it was met."""

    block: Block
    results: list[Register]
    type: LLVMType
    incoming: list[tuple[LLVMValue, str]] = field(default_factory=list)


def translate_function(linker: Linker, definition: Definition) -> Function:
    return FunctionTranslator(linker, definition).translate()


_Argument = tuple[Operand, Attributes, list[Value]]


def registers_taken(arguments: Iterable[tuple[LLVMType, Attributes]]) -> tuple[int, int]:
    """How many general and how many vector registers arguments of these types ask for."""
    general = vector = 0
    for type_, attributes in arguments:
        if attributes.byval is not None:
            continue
        if isinstance(type_, Vector) or any(isinstance(leaf, Float) for _, leaf in leaves(type_)):
            vector += 1
        else:
            general += 1
    return general, vector


def parameter_types(returns: LLVMType, parameters: Sequence[LLVMType], variadic: bool) -> list[Type]:
    """The scalars that a function of this type is called with, hidden ones included."""
    types = [leaf for parameter in parameters for _, leaf in leaves(parameter)]
    return [PTR] * (len(leaves(returns)) > 1) + types + [PTR] * variadic


class FunctionTranslator:
    """The state of the translation of one function: what its values are, and where the next instruction goes."""

    def __init__(self, linker: Linker, definition: Definition) -> None:
        self.linker = linker
        self.module = definition.module
        self.definition = definition
        self.location = linker.declared_at(definition)
        self.function = Function(linker.name(definition), location=self.location, library=linker.is_library(definition))
        self.block = Block("")
        self.extra_arguments: Register | None = None
        self.registers_before = (0, 0)  # that the parameters before the extra ones take
        self._debug = linker.debug(definition.module)
        self._values: dict[str, list[Value]] = {}
        self._variables: dict[str, int] = {}
        self._result_area: Register | None = None
        self._areas: list[Instruction] = []
        self._phis: list[_PendingPhi] = []
        self._atomics: list[Update | CompareExchange] = []
        self._used: set[Register] = set()
        self._names = {"t"}  # taken; results without a name of their own are t1, t2, ...
        self._counter = 0

    def translate(self) -> Function:
        try:
            self._translate()
        except Unsupported as reason:
            raise self.error(str(reason)) from None
        return self.function

    def error(self, message: str) -> InputError:
        """An error at the current place; inside of the library, also where the program calls it."""
        place, definition = self.location, self.definition
        while self.linker.is_library(definition) and definition in self.linker.callers:
            definition, place = self.linker.callers[definition]
        inside = f" (called at {self.location})" if place != self.location else ""
        return InputError(f"{place or definition.module.origin}: {message}{inside}")

    def _translate(self) -> None:
        text = self.module.body(self.definition.name)
        for lines in text.values():
            for _, line in lines:
                self._names.update(name_of(name) for name in _LOCAL.findall(line))
                if (declare := _DECLARE.match(line)) is not None:
                    self._variables[name_of(declare[1])] = int(declare[2])
        entry = next(iter(text))
        self.block = Block(entry)
        self._enter()

        # Blocks that cannot be reached are left out. A definition dominates its uses, so whatever path leads to a
        # block first, the values that it uses have been translated by then.
        translated = {entry: self.block}
        todo = [entry]
        while todo:
            label = todo.pop()
            self.block = translated[label]
            self.location = self.function.location
            self._translate_block(text[label])
            for successor in reversed(_successors(self.block.terminator)):
                if successor not in translated:
                    translated[successor] = Block(successor)
                    todo.append(successor)
        self.function.blocks = {label: translated[label] for label in text if label in translated}
        self._fill_phis()
        self.function.entry.instructions[:0] = self._areas
        for instruction in self._atomics:
            if instruction.result not in self._used:
                instruction.result = None
            if isinstance(instruction, CompareExchange) and instruction.success not in self._used:
                instruction.success = None

    def _enter(self) -> None:
        """Parameters, and what a call does on its way in."""
        header = self.module.header(self.definition.name)
        results = leaves(header.returns)
        self.function.returns = results[0][1] if len(results) == 1 else None
        if len(results) > 1:
            self._result_area = self._parameter("result")
        copies: list[tuple[Register, LLVMType, str]] = []
        for parameter in header.parameters:
            registers = self.define(parameter.name, parameter.type)
            self.function.parameters += registers
            if parameter.attributes.byval is not None:
                copies.append((registers[0], parameter.attributes.byval, parameter.name))
        if header.variadic:
            self.extra_arguments = self._parameter("arguments")
            self.registers_before = registers_taken((each.type, each.attributes) for each in header.parameters)
        if self._runs_atomically():
            self.emit(AtomicBegin())
        for source, type_, name in copies:
            copy = self.stack_alloc(size_of(type_), name)
            self.copy(copy, source, Constant(I64, size_of(type_)), min(alignment(type_), 8), overlap=False)
            self._values[name] = [copy]

    def _parameter(self, name: str) -> Register:
        register = Register(self.fresh_name(name), PTR)
        self.function.parameters.append(register)
        return register

    def _runs_atomically(self) -> bool:
        """A convention of SV-COMP, for functions of the program (`__VERIFIER_atomic_begin` is one of the library)."""
        return self.definition.name.startswith("__VERIFIER_atomic_") and not self.module.library

    def _translate_block(self, lines: Sequence[tuple[int, str]]) -> None:
        for number, line in lines:
            if line.startswith("#"):
                continue
            debug = _DEBUG.search(line)
            if debug is not None:
                self.location = self._debug.location(int(debug[1])) or self.location
            if self.location is not None and not self.module.library:
                self.location = replace(self.location, text=((self.module.origin, number),))
            cursor = self.module.cursor(line)
            result = None
            if cursor.peek(1) == "=":
                result = name_of(cursor.next())
                cursor.next()
            self._instruction(cursor, result)
            if self.block.instructions and isinstance(self.block.instructions[-1], Terminator):
                return
        raise Unsupported(f"the block '{self.block.name}' has no end")

    def _fill_phis(self) -> None:
        for pending in self._phis:
            incoming: list[tuple[str, list[Value]]] = []
            for value, label in pending.incoming:
                source = self.function.blocks.get(label)
                if source is None or pending.block.name not in _successors(source.terminator):
                    continue
                # A constant that takes an instruction to compute (the address of a thread-local) is computed there.
                self.block = Block("", instructions=[])
                self.location = source.terminator.location
                values = self.operand(Operand(pending.type, value))
                source.instructions[-1:-1] = self.block.instructions
                incoming.append((label, values))
            for index, register in enumerate(pending.results):
                # A switch may have several edges to the same block; the phi names it once.
                edges = {label: values[index] for label, values in incoming}
                pending.block.phis.append(Phi(register, list(edges.items())))

    # ------------------------------------------------------------------------- emitting instructions

    def emit(self, instruction: Instruction) -> None:
        instruction.location = self.location
        self.block.instructions.append(instruction)

    def compute(self, type_: Type, instruction: Instruction, name: str | None = None) -> Register:
        """Emit an instruction with a new result."""
        register = Register(name if name is not None else self.fresh_name("t"), type_)
        instruction.result = register
        self.emit(instruction)
        return register

    def fresh_name(self, prefix: str) -> str:
        name = prefix
        while name in self._names:
            self._counter += 1
            name = f"{prefix}{self._counter}"
        self._names.add(name)
        return name

    def define(self, name: str, type_: LLVMType) -> list[Register]:
        """Registers for the LLVM value of this name."""
        types = [leaf for _, leaf in leaves(type_)]
        if len(types) == 1:
            registers = [Register(name, types[0])]
        else:
            registers = [Register(self.fresh_name(f"{name}.{index}"), leaf) for index, leaf in enumerate(types)]
        self._values[name] = list(registers)
        return registers

    def bind(self, name: str | None, values: Sequence[Value]) -> None:
        """Let the LLVM value of this name be these scalars."""
        if name is not None:
            self._values[name] = list(values)

    def binary(self, op: BinaryOp, left: Value, right: Value) -> Register:
        return self.compute(left.type, Binary(op, left, right))

    def compare(self, predicate: Predicate, left: Value, right: Value) -> Register:
        return self.compute(I1, Compare(predicate, left, right))

    def select(self, condition: Value, if_true: Value, if_false: Value) -> Register:
        return self.compute(if_true.type, Select(condition, if_true, if_false))

    def offset(self, base: Value, displacement: int) -> Value:
        """The address so many bytes further."""
        if displacement == 0:
            return base
        if isinstance(base, GlobalAddress):
            return GlobalAddress(base.name, base.offset + displacement)
        return self.compute(PTR, Offset(base, Constant(I64, 0), 1, displacement))

    def fit(self, value: Value, type_: Type) -> Value:
        """A value as another type that a call may confuse it with: other integers, pointers."""
        have = value.type
        if have == type_:
            return value
        if isinstance(have, Float) or isinstance(type_, Float):
            raise Unsupported(
                "a function is called with a type that differs from its definition; declare it as defined"
            )
        if isinstance(have, Int) and isinstance(value, Constant) and isinstance(type_, Int):
            return Constant(type_, int(value.value) % (1 << type_.bits), value.undefined)
        if not isinstance(have, Int):
            value, have = self.compute(I64, Convert("bitcast", value)), I64
        wide = type_ if isinstance(type_, Int) else I64
        if have.bits != wide.bits:
            value = self.compute(wide, Convert("zext" if have.bits < wide.bits else "trunc", value))
        return value if wide == type_ else self.compute(type_, Convert("bitcast", value))

    # ---------------------------------------------------------------------------------------- memory

    def area(self, size: int) -> Register:
        """Memory of this call that no other thread can get at: allocated once, on entry."""
        register = Register(self.fresh_name("area"), PTR)
        self._areas.append(
            StackAlloc(Constant(I64, size), private=True, result=register, location=self.function.location)
        )
        return register

    def stack_alloc(self, size: int | Value, name: str) -> Register:
        variable, debug_type = None, None
        if name in self._variables:
            variable, debug_type = self._debug.local_variable(self._variables[name])
        count = Constant(I64, size) if isinstance(size, int) else size
        register = Register(name if name not in self._values else self.fresh_name(name), PTR)
        self.emit(StackAlloc(count, variable=variable, debug_type=debug_type, result=register))
        return register

    def load(self, address: Value, type_: Type, ordering: Ordering, align: int, name: str | None = None) -> Value:
        """Read a scalar. One that is wider than its alignment, or whose size is not a power of 2, is not a single
        access for any compiler: it is read piece by piece into memory of our own, and from there as a whole."""
        size = (type_.bits + 7) // 8
        if size == type_.size and (align >= size or ordering != "plain"):
            return self.compute(type_, Load(address, ordering, align), name)
        area = self.area(type_.size)
        if size != type_.size:
            self.emit(Store(Constant(Int(8 * type_.size), 0), area))
        self._copy_pieces(area, address, _pieces(size, align), align, overlap=False)
        return self.fit_width(self.compute(_memory_type(type_), Load(area)), type_)

    def store(self, value: Value, address: Value, ordering: Ordering, align: int) -> None:
        """Write a scalar, with the same care as `load`."""
        type_ = value.type
        size = (type_.bits + 7) // 8
        if size == type_.size and (align >= size or ordering != "plain"):
            self.emit(Store(value, address, ordering, align))
            return
        area = self.area(type_.size)
        self.emit(Store(self.fit_width(value, _memory_type(type_)), area))
        self._copy_pieces(address, area, _pieces(size, align), align, overlap=False)

    def fit_width(self, value: Value, type_: Type) -> Value:
        if value.type == type_:
            return value
        return self.compute(type_, Convert("trunc" if type_.bits < value.type.bits else "zext", value))

    def load_all(self, address: Value, type_: LLVMType, align: int, name: str | None = None) -> list[Value]:
        """Read every scalar of a type, as plain accesses."""
        parts = leaves(type_)
        return [
            self.load(
                self.offset(address, offset), leaf, "plain", _align_at(align, offset), name if len(parts) == 1 else None
            )
            for offset, leaf in parts
        ]

    def store_all(self, values: Sequence[Value], type_: LLVMType, address: Value, align: int) -> None:
        for value, (offset, _) in zip(values, leaves(type_), strict=True):
            self.store(value, self.offset(address, offset), "plain", _align_at(align, offset))

    def copy(self, target: Value, source: Value, size: Value, align: int, overlap: bool) -> None:
        """Copy memory in pieces as wide as the alignment allows: others may see it half done."""
        if isinstance(size, Constant) and int(size.value) <= (_INLINE_COPY if align > 1 else _INLINE_BYTES):
            self._copy_pieces(target, source, _pieces(int(size.value), align), align, overlap)
            return
        function = "__mazurka_move" if overlap else "__mazurka_copy"
        chunk = Constant(I64, align if align > 1 else 0)
        self.call_library(function, [target, source, self.fit(size, I64), chunk])

    def _copy_pieces(
        self, target: Value, source: Value, pieces: Sequence[tuple[int, int]], align: int, overlap: bool
    ) -> None:
        stores: list[tuple[Value, int, int]] = []
        for offset, width in pieces:
            piece = self.compute(Int(8 * width), Load(self.offset(source, offset), align=min(width, align)))
            stores.append((piece, offset, width))
            if not overlap:
                self._store_piece(target, *stores.pop(), align)
        for store in stores:
            self._store_piece(target, *store, align)

    def _store_piece(self, target: Value, piece: Value, offset: int, width: int, align: int) -> None:
        self.emit(Store(piece, self.offset(target, offset), align=min(width, align)))

    def fill(self, target: Value, byte: Value, size: Value, align: int) -> None:
        """Set memory to a byte, in pieces like `copy`."""
        inline = isinstance(byte, Constant) or align == 1
        if inline and isinstance(size, Constant) and int(size.value) <= (_INLINE_COPY if align > 1 else _INLINE_BYTES):
            for offset, width in _pieces(int(size.value), align):
                piece = byte
                if isinstance(byte, Constant):
                    pattern = int.from_bytes(bytes([int(byte.value)]) * width, "little")
                    piece = Constant(Int(8 * width), pattern, byte.undefined)
                self._store_piece(target, piece, offset, width, align)
            return
        self.call_library("__mazurka_fill", [target, byte, self.fit(size, I64)])

    def call_library(self, name: str, arguments: Sequence[Value]) -> Register | None:
        """Call a model that the front end itself relies on."""
        definition = self.linker.find_function(self.module, name)
        if definition is None:
            raise Unsupported(f"the library function '{name}' is missing from this installation of Mazurka")
        header = definition.module.header(definition.name)
        types = parameter_types(header.returns, header.type.parameters, header.variadic)
        fitted = [self.fit(value, type_) for value, type_ in zip(arguments, types, strict=True)]
        call = Call(self.linker.name(definition), fitted)
        for _, type_ in leaves(header.returns):
            return self.compute(type_, call)
        self.emit(call)
        return None

    # A structure of 16 bytes is atomically accessed as an i128, for which there is no scalar. Its value is two of them,
    # in which nothing but such accesses and copies understands it.

    def _wide_area(self, values: Sequence[Value] = ()) -> Register:
        area = self.area(16)
        for offset, value in zip((0, 8), values, strict=False):
            self.emit(Store(value, self.offset(area, offset), align=8))
        return area

    def _wide_load(self, address: Value, ordering: Ordering, align: int) -> list[Value]:
        if ordering != "plain":
            area = self._wide_area()
            self._wide_call("__atomic_load", address, area)
            address, align = area, 8
        return [self.load(self.offset(address, offset), I64, "plain", align) for offset in (0, 8)]

    def _wide_store(self, values: Sequence[Value], address: Value, ordering: Ordering, align: int) -> None:
        if ordering != "plain":
            self._wide_call("__atomic_store", address, self._wide_area(values))
            return
        for offset, value in zip((0, 8), values, strict=True):
            self.store(value, self.offset(address, offset), "plain", align)

    def _wide_call(self, name: str, *addresses: Value) -> Register | None:
        """An atomic operation of the library, on 16 bytes. Whatever its order is, it is sequentially consistent."""
        orders = [Constant(I32, 5)] * (2 if name == "__atomic_compare_exchange" else 1)
        return self.call_library(name, [Constant(I64, 16), *addresses, *orders])

    # -------------------------------------------------------------------------------------- operands

    def operand(self, operand: Operand) -> list[Value]:
        """The scalars of an operand, which count as used."""
        values = self._operand(operand.type, operand.value)
        self._used.update(value for value in values if isinstance(value, Register))
        return values

    def scalar(self, operand: Operand) -> Value:
        values = self.operand(operand)
        if len(values) != 1:
            raise Unsupported("an operation on a vector or structure as a whole is not supported")
        return values[0]

    def _operand(self, type_: LLVMType, value: LLVMValue) -> list[Value]:
        match value:
            case Local(name):
                if name not in self._values:
                    leaves(type_)  # refuses what cannot be a value
                    raise Unsupported(f"the LLVM value %{name} is not understood")
                return self._values[name]
            case Aggregate(elements):
                return [part for element in elements for part in self._operand(element.type, element.value)]
            case Characters(data):
                return [Constant(I8, byte) for byte in data]
            case Zero() | Undefined():
                return [Constant(leaf, undefined=isinstance(value, Undefined)) for _, leaf in leaves(type_)]
            case Assembly():
                raise Unsupported("inline assembly is not supported; write it in C, or with atomics")
        ((_, scalar),) = leaves(type_)
        try:
            return [self._constant(scalar, self.linker.evaluate(self.module, value))]
        except Unsupported:
            # A number made from several addresses is known when the program runs.
            if not isinstance(value, Expression) or value.op not in ("add", "sub", "xor"):
                raise
            left, right = (self.fit(self.scalar(operand), scalar) for operand in value.operands)
            return [self.binary(cast(BinaryOp, value.op), left, right)]

    def _constant(self, type_: Type, constant: int | float | Address | Undefined) -> Value:
        if isinstance(constant, Undefined):
            return Constant(type_, undefined=True)
        if isinstance(constant, Address):
            return self.fit(self.address(constant), type_)
        if isinstance(type_, Float):
            return Constant(type_, float(constant))
        return Constant(type_, int(constant) % (1 << type_.bits))

    def address(self, address: Address) -> Value:
        if address.function:
            if address.offset:
                raise Unsupported("an address inside of a function is not supported")
            return FunctionAddress(address.name)
        if address.thread_local:
            return self.offset(self.compute(PTR, ThreadLocalAddress(address.name)), address.offset)
        return GlobalAddress(address.name, address.offset)

    # ---------------------------------------------------------------------------------- instructions

    def _instruction(self, cursor: Cursor, result: str | None) -> None:
        opcode = cursor.next()
        while opcode in ("tail", "musttail", "notail"):
            opcode = cursor.next()
        if opcode in _BINARY_OPS:
            self._binary(cast(BinaryOp, opcode), cursor, result)
        elif opcode in _CONVERSIONS:
            self._convert(opcode, cursor, result)
        elif opcode in _INSTRUCTIONS:
            _INSTRUCTIONS[opcode](self, cursor, result)
        elif opcode in _REFUSED:
            raise Unsupported(_REFUSED[opcode])
        else:
            raise Unsupported(f"the LLVM instruction '{opcode}' is not supported")

    def _pair(self, cursor: Cursor) -> tuple[LLVMType, list[Value], list[Value]]:
        """`type left, right`"""
        cursor.skip_words()
        type_ = cursor.type()
        leaves(type_)  # refuses what nothing can be computed with
        left = self.operand(Operand(type_, cursor.value(type_)))
        cursor.expect(",")
        return type_, left, self.operand(Operand(type_, cursor.value(type_)))

    def _name(self, result: str | None, parts: Sequence[object]) -> str | None:
        """The name for the register of a value that is a single scalar."""
        return result if len(parts) == 1 else None

    def _binary(self, op: BinaryOp, cursor: Cursor, result: str | None) -> None:
        _, left, right = self._pair(cursor)
        name = self._name(result, left)
        self.bind(result, [self.compute(a.type, Binary(op, a, b), name) for a, b in zip(left, right, strict=True)])

    def _compare(self, cursor: Cursor, result: str | None) -> None:
        floating = cursor.tokens[cursor.position - 1] == "fcmp"
        word = cursor.next()
        while not cursor.at_type():  # flags come before the predicate
            word = cursor.next()
        type_, left, right = self._pair(cursor)
        if isinstance(type_, Vector):
            raise Unsupported("a comparison of vectors is not supported")
        if floating and word in ("true", "false"):
            self.bind(result, [Constant(I1, int(word == "true"))])
            return
        predicate = cast(Predicate, f"f{word}" if floating else word)
        self.bind(result, [self.compute(I1, Compare(predicate, left[0], right[0]), result)])

    def _negate(self, cursor: Cursor, result: str | None) -> None:
        cursor.skip_words()
        values = self.operand(cursor.operand())
        name = self._name(result, values)
        self.bind(result, [self.compute(value.type, Unary("fneg", value), name) for value in values])

    def _convert(self, opcode: str, cursor: Cursor, result: str | None) -> None:
        cursor.skip_words()
        operand = cursor.operand()
        cursor.expect("to")
        type_ = cursor.type()
        leaves(operand.type)  # refuses what nothing can be computed with
        values = self.operand(operand)
        targets = [leaf for _, leaf in leaves(type_)]
        if opcode in ("bitcast", "addrspacecast", "ptrtoint", "ptrtoaddr", "inttoptr"):
            self.bind(result, self._reinterpret(values, operand.type, type_, result))
            return
        name = self._name(result, values)
        self.bind(
            result,
            [
                self.compute(target, Convert(cast(ConvertOp, opcode), value), name)
                for value, target in zip(values, targets, strict=True)
            ],
        )

    def _reinterpret(self, values: list[Value], have: LLVMType, want: LLVMType, result: str | None) -> Sequence[Value]:
        """The same bits as another type."""
        types = [leaf for _, leaf in leaves(want)]
        if [value.type for value in values] == types:
            return values
        if len(values) == len(types) == 1:
            value, type_ = values[0], types[0]
            if value.type.bits == type_.bits:
                return [self.compute(type_, Convert("bitcast", value), result)]
            return [self.fit(value, type_)]
        area = self.area(size_of(have))
        self.store_all(values, have, area, 8)
        return self.load_all(area, want, 8)

    def _select(self, cursor: Cursor, result: str | None) -> None:
        cursor.skip_words()
        condition = self.scalar(cursor.operand())
        cursor.expect(",")
        if_true = self.operand(cursor.operand())
        cursor.expect(",")
        if_false = self.operand(cursor.operand())
        name = self._name(result, if_true)
        self.bind(
            result,
            [
                self.compute(yes.type, Select(condition, yes, no), name)
                for yes, no in zip(if_true, if_false, strict=True)
            ],
        )

    def _freeze(self, cursor: Cursor, result: str | None) -> None:
        self.bind(result, self.operand(cursor.operand()))

    def _phi(self, cursor: Cursor, result: str | None) -> None:
        cursor.skip_words()
        type_ = cursor.type()
        assert result is not None
        pending = _PendingPhi(self.block, self.define(result, type_), type_)
        while cursor.accept("["):
            value = cursor.value(type_)
            cursor.expect(",")
            pending.incoming.append((value, name_of(cursor.next())))
            cursor.expect("]")
            cursor.accept(",")
        self._phis.append(pending)

    def _get_element(self, cursor: Cursor, result: str | None) -> None:
        cursor.skip_words()
        source = cursor.type()
        cursor.expect(",")
        address = self.scalar(cursor.operand())
        displacement, first = 0, True
        scaled: Offset | None = None
        while cursor.accept(",") and cursor.at_type():
            operand = cursor.operand()
            step = size_of(source) if first else 0
            index = self.scalar(operand)
            if not first and isinstance(source, Structure):
                assert isinstance(index, Constant)
                offset, source = element_at(source, int(index.value))
                displacement += offset
                continue
            if not first:
                step, source = element_at(source, 1)
            first = False
            if isinstance(index, Constant):
                displacement += step * _signed(index)
            else:
                wide = index
                if index.type.bits < 64:
                    wide = self.compute(I64, Convert("sext", index))
                scaled = Offset(address, wide, step)
                address = self.compute(PTR, scaled)
        if scaled is not None:
            scaled.displacement = displacement
        else:
            address = self.offset(address, displacement)
        self.bind(result, [address])

    def _slice(self, type_: LLVMType, cursor: Cursor) -> tuple[int, int]:
        """Which scalars of an aggregate the indices mean: the first, and how many."""
        start = 0
        while cursor.accept(",") and cursor.peek().isdigit():
            index = int(cursor.next())
            if isinstance(type_, Structure):
                start += sum(_scalars(element) for element in type_.elements[:index])
                type_ = type_.elements[index]
            else:
                _, type_ = element_at(type_, index)
                start += index * _scalars(type_)
        return start, _scalars(type_)

    def _extract_value(self, cursor: Cursor, result: str | None) -> None:
        operand = cursor.operand()
        start, count = self._slice(operand.type, cursor)
        # Taking a part is no use of the others: a compare-exchange of which only the success matters reads no value.
        self.bind(result, self._operand(operand.type, operand.value)[start : start + count])

    def _insert_value(self, cursor: Cursor, result: str | None) -> None:
        operand = cursor.operand()
        cursor.expect(",")
        part = self.operand(cursor.operand())
        start, count = self._slice(operand.type, cursor)
        values = list(self._operand(operand.type, operand.value))
        values[start : start + count] = part
        self.bind(result, values)

    def _element_index(self, cursor: Cursor) -> int:
        cursor.expect(",")
        index = self.scalar(cursor.operand())
        if not isinstance(index, Constant):
            raise Unsupported("an element of a vector at an index that is not constant is not supported; use an array")
        return int(index.value)

    def _extract_element(self, cursor: Cursor, result: str | None) -> None:
        values = self.operand(cursor.operand())
        self.bind(result, [values[self._element_index(cursor)]])

    def _insert_element(self, cursor: Cursor, result: str | None) -> None:
        values = list(self.operand(cursor.operand()))
        cursor.expect(",")
        element = self.scalar(cursor.operand())
        values[self._element_index(cursor)] = element
        self.bind(result, values)

    def _shuffle(self, cursor: Cursor, result: str | None) -> None:
        left = self.operand(cursor.operand())
        cursor.expect(",")
        right = self.operand(cursor.operand())
        cursor.expect(",")
        mask = self.operand(cursor.operand())
        values = left + right
        self.bind(
            result,
            [
                Constant(values[0].type, undefined=True) if index.undefined else values[int(index.value)]
                for index in mask
                if isinstance(index, Constant)
            ],
        )

    # ------------------------------------------------------------------------------------- accesses

    def _ordering(self, cursor: Cursor) -> tuple[Ordering, int]:
        """`[syncscope("...")] [ordering [ordering]] [, align N]`

        More than 8 is not asked for: no access is wider, and clang itself promises too much where a `va_arg` takes a
        structure of a larger alignment out of saved registers."""
        ordering: Ordering = "plain"
        if cursor.accept("syncscope"):
            cursor.skip_group()
        while cursor.peek() in _ORDERINGS:
            word = _ORDERINGS[cursor.next()]
            ordering = word if ordering == "plain" else ordering  # the first one is that of success
        align = 1
        if cursor.accept(",") and cursor.accept("align"):
            align = min(int(cursor.next()), 8)
        return ordering, align

    def _alloca(self, cursor: Cursor, result: str | None) -> None:
        cursor.skip_words()
        type_ = cursor.type()
        assert result is not None
        size = size_of(type_)
        if cursor.peek() == "," and cursor.peek(1) not in ("align", "addrspace") and cursor.peek(1)[0] != "!":
            cursor.next()
            count = self.scalar(cursor.operand())
            if not isinstance(count, Constant):
                scaled = self.binary("mul", self.fit(count, I64), Constant(I64, size))
                self.bind(result, [self.stack_alloc(scaled, result)])
                return
            size *= int(count.value)
        self.bind(result, [self.stack_alloc(size, result)])

    def _load(self, cursor: Cursor, result: str | None) -> None:
        cursor.skip_words()
        type_ = cursor.type()
        cursor.expect(",")
        address = self.scalar(cursor.operand())
        ordering, align = self._ordering(cursor)
        if type_ == _WIDE:
            self.bind(result, self._wide_load(address, ordering, align))
        elif isinstance(type_, Scalar):
            self.bind(result, [self.load(address, type_.type, ordering, align, result)])
        else:
            self.bind(result, self.load_all(address, type_, align, result))

    def _store(self, cursor: Cursor, result: str | None) -> None:
        cursor.skip_words()
        operand = cursor.operand()
        cursor.expect(",")
        address = self.scalar(cursor.operand())
        ordering, align = self._ordering(cursor)
        values = self.operand(operand)
        if operand.type == _WIDE:
            self._wide_store(values, address, ordering, align)
        elif isinstance(operand.type, Scalar):
            self.store(values[0], address, ordering, align)
        else:
            self.store_all(values, operand.type, address, align)

    def _update(self, cursor: Cursor, result: str | None) -> None:
        cursor.accept("volatile")
        op = cursor.next()
        address = self.scalar(cursor.operand())
        cursor.expect(",")
        operand = cursor.operand()
        ordering, align = self._ordering(cursor)
        if operand.type == _WIDE and op == "xchg":
            old_area = self._wide_area()
            self._wide_call("__atomic_exchange", address, self._wide_area(self.operand(operand)), old_area)
            self.bind(result, self._wide_load(old_area, "plain", 8))
            return
        value = self.scalar(operand)
        type_ = value.type
        if op in ("fadd", "fsub"):
            # An atomic section is one event, as an update is.
            self.emit(AtomicBegin())
            old = self.compute(type_, Load(address, ordering, align), result)
            self.emit(Store(self.binary(cast(BinaryOp, op), old, value), address, ordering, align))
            self.emit(AtomicEnd())
            self.bind(result, [old])
            return
        if op not in _UPDATE_OPS:
            raise Unsupported(f"the atomic operation '{op}' is not supported; use a loop with a compare-exchange")
        if isinstance(type_, Float):
            value = self.compute(Int(type_.bits), Convert("bitcast", value))
        update = Update(_UPDATE_OPS[op], address, value, ordering, align)
        old = self.compute(value.type, update, result)
        if isinstance(type_, Float):
            old = self.compute(type_, Convert("bitcast", old))
        else:
            self._atomics.append(update)
        self.bind(result, [old])

    def _compare_exchange(self, cursor: Cursor, result: str | None) -> None:
        # A weak one could fail for no reason on some processors; on x86-64 it never does.
        cursor.skip_words()
        address = self.scalar(cursor.operand())
        cursor.expect(",")
        operands = [cursor.operand()]
        cursor.expect(",")
        operands.append(cursor.operand())
        ordering, align = self._ordering(cursor)
        assert result is not None
        if operands[0].type == _WIDE:
            areas = [self._wide_area(self.operand(operand)) for operand in operands]
            swapped = self._wide_call("__atomic_compare_exchange", address, *areas)
            assert swapped is not None
            self.bind(result, [*self._wide_load(areas[0], "plain", 8), swapped])
            return
        expected, desired = (self.scalar(operand) for operand in operands)
        success = Register(self.fresh_name(f"{result}.1"), I1)
        instruction = CompareExchange(address, expected, desired, success, ordering, align)
        old = self.compute(expected.type, instruction, self.fresh_name(f"{result}.0"))
        self._atomics.append(instruction)
        self.bind(result, [old, success])

    def _fence(self, cursor: Cursor, result: str | None) -> None:
        """All accesses are sequentially consistent: there is nothing to order. But relaxed accesses may synchronise."""
        self.linker.program.fences = True

    # ----------------------------------------------------------------------------------------- calls

    def _call(self, cursor: Cursor, result: str | None) -> None:
        site = self._call_site(cursor, result)
        match site.callee:
            case Assembly():
                self._assembly(site, site.callee)
            case Symbol(name):
                self._call_symbol(site, name)
            case _:
                callee = self.scalar(Operand(Scalar(PTR), site.callee))
                self._emit_call(callee, site, site.type)

    def _call_site(self, cursor: Cursor, result: str | None) -> CallSite:
        cursor.attributes()
        if cursor.accept("addrspace"):
            cursor.skip_group()
        type_ = cursor.type()
        callee = cursor.value(Scalar(PTR))
        cursor.expect("(")
        arguments = [cursor.argument() for _ in cursor.items(")")]
        if not isinstance(type_, FunctionType):
            type_ = FunctionType(type_, tuple(operand.type for operand, _ in arguments), False)
        return CallSite(callee, type_, arguments, result)

    def _call_symbol(self, site: CallSite, name: str) -> None:
        if builtins.is_intrinsic(name):
            builtins.translate(self, site, name)
            return
        definition = self.linker.find_function(self.module, name)
        if definition is not None:
            self.linker.callers.setdefault(definition, (self.definition, self.location))
            header = definition.module.header(definition.name)
            self._emit_call(self.linker.name(definition), site, header.type)
        elif builtins.is_builtin(name):
            builtins.translate(self, site, name)
        elif self.linker.find(self.module, name) is not None:
            self._emit_call(self.scalar(Operand(Scalar(PTR), site.callee)), site, site.type)
        else:
            raise Unsupported(builtins.refusal(name))

    def _emit_call(self, callee: str | Value, site: CallSite, type_: FunctionType) -> None:
        """Call a function of this type, which may differ from the one that the call was compiled with."""
        fixed = len(type_.parameters)
        given = [(operand, attributes, self.operand(operand)) for operand, attributes in site.arguments]
        arguments = [value for _, _, values in given[:fixed] for value in values]
        returned = leaves(type_.returns)
        types = parameter_types(type_.returns, type_.parameters, type_.variadic)
        results: Register | None = None
        if len(returned) > 1:
            results = self.area(size_of(type_.returns))
            arguments.insert(0, results)
        if type_.variadic:
            arguments.append(self._extra_arguments(given[:fixed], given[fixed:]))
        if len(arguments) != len(types):
            raise Unsupported(f"'{callee}' is called with other arguments than it takes; declare it as it is defined")
        arguments = [self.fit(value, wanted) for value, wanted in zip(arguments, types, strict=True)]
        call = Call(callee, arguments)
        wanted = leaves(site.returns)
        if results is not None:
            self.emit(call)
            if [leaf for _, leaf in wanted] != [leaf for _, leaf in returned]:
                raise Unsupported(f"'{callee}' is called as if it returned another type; declare it as it is defined")
            self.bind(site.result, self.load_all(results, type_.returns, 8))
        elif not wanted:
            self.emit(call)
        elif not returned:
            self.emit(call)
            self.bind(site.result, [Constant(leaf, undefined=True) for _, leaf in wanted])
        else:
            same = len(wanted) == 1 and wanted[0][1] == returned[0][1]
            value = self.compute(returned[0][1], call, site.result if same else None)
            self.bind(site.result, [self.fit(value, wanted[0][1])])

    def _extra_arguments(self, fixed: Sequence[_Argument], extra: Sequence[_Argument]) -> Value:
        """Lay out variadic arguments as the x86-64 ABI does: those that are passed in registers where a function
        saves them, the others after that. The alignment of a structure that is passed in pieces shows only there.
        They are written before the call and only read during it, so that it does not matter which thread reads them."""
        if not extra:
            return Constant(PTR, 0)
        general, vector = registers_taken((operand.type, attributes) for operand, attributes, _ in fixed)
        position = builtins.REGISTER_AREA
        slots: list[tuple[int, LLVMType, Attributes, list[Value]]] = []
        for operand, attributes, values in extra:
            type_ = attributes.byval or operand.type
            in_general, in_vector = registers_taken([(operand.type, attributes)])
            if in_general and general < builtins.GENERAL_REGISTERS:
                slots.append((8 * general, type_, attributes, values))
                general += 1
            elif in_vector and vector < builtins.VECTOR_REGISTERS:
                slots.append((8 * builtins.GENERAL_REGISTERS + 16 * vector, type_, attributes, values))
                vector += 1
            else:
                align = max(attributes.align if attributes.byval is not None else alignment(type_), 8)
                position += -position % align
                slots.append((position, type_, attributes, values))
                position += (size_of(type_) + 7) // 8 * 8
        area = self.area(max(start + (size_of(type_) + 7) // 8 * 8 for start, type_, _, _ in slots))
        for start, type_, attributes, values in slots:
            slot = self.offset(area, start)
            if attributes.byval is None:
                self.store_all(values, type_, slot, 8)
            else:
                self.copy(slot, values[0], Constant(I64, size_of(type_)), min(alignment(type_), 8), overlap=False)
        return area

    def _assembly(self, site: CallSite, assembly: Assembly) -> None:
        """An empty template only keeps the compiler from moving accesses, which happens to none here."""
        template = re.sub(r"\s+", " ", assembly.template.strip().rstrip(";"))
        constraints = [part for part in assembly.constraints.split(",") if not part.startswith("~")]
        outputs = [part for part in constraints if part.startswith("=") and "*" not in part]
        inputs = [part for part in constraints if not (part.startswith("=") and "*" not in part)]
        if template not in _HINTS or (template and constraints):
            raise Unsupported("inline assembly is not supported; write it in C, or with atomics")
        values: list[Value] = []
        for number in range(len(outputs)):
            if str(number) not in inputs:
                raise Unsupported("inline assembly with outputs is not supported; write it in C, or with atomics")
            values += self.operand(site.arguments[inputs.index(str(number))][0])
        if any(part.startswith("=*") for part in constraints):
            raise Unsupported("inline assembly with outputs is not supported; write it in C, or with atomics")
        self.bind(site.result, values)

    def _invoke(self, cursor: Cursor, result: str | None) -> None:
        """A call that may throw an exception. Nothing throws: functions that do are refused."""
        self._call(cursor, result)
        if self.block.instructions and isinstance(self.block.instructions[-1], Terminator):
            return
        while cursor.next() != "to":
            pass
        cursor.expect("label")
        self.emit(Jump(name_of(cursor.next())))

    # ------------------------------------------------------------------------------------ terminators

    def _return(self, cursor: Cursor, result: str | None) -> None:
        values: list[Value] = []
        if cursor.peek() != "void":
            operand = cursor.operand()
            values = self.operand(operand)
            if self._result_area is not None:
                self.store_all(values, operand.type, self._result_area, 8)
                values = []
        if self._runs_atomically():
            self.emit(AtomicEnd())
        self.emit(Return(values[0] if values else None))

    def _branch(self, cursor: Cursor, result: str | None) -> None:
        if cursor.accept("label"):
            self.emit(Jump(name_of(cursor.next())))
            return
        condition = self.scalar(cursor.operand())
        targets = []
        for _ in range(2):
            cursor.expect(",")
            cursor.expect("label")
            targets.append(name_of(cursor.next()))
        if targets[0] == targets[1]:
            self.emit(Jump(targets[0]))
        else:
            self.emit(Branch(condition, targets[0], targets[1]))

    def _switch(self, cursor: Cursor, result: str | None) -> None:
        value = self.scalar(cursor.operand())
        cursor.expect(",")
        cursor.expect("label")
        default = name_of(cursor.next())
        cursor.expect("[")
        cases: list[tuple[int, str]] = []
        while not cursor.accept("]"):
            case = self.scalar(cursor.operand())
            assert isinstance(case, Constant)
            cursor.expect(",")
            cursor.expect("label")
            cases.append((int(case.value), name_of(cursor.next())))
        self.emit(Switch(value, cases, default))

    def _unreachable(self, cursor: Cursor, result: str | None) -> None:
        self.emit(Unreachable())


def _successors(terminator: Terminator) -> list[str]:
    match terminator:
        case Jump(target):
            return [target]
        case Branch(_, if_true, if_false):
            return [if_true, if_false]
        case Switch(_, cases, default):
            return [default, *(target for _, target in cases)]
    return []


_WIDE = Other("i128")


def _scalars(type_: LLVMType) -> int:
    """How many scalars a value of a type is."""
    if type_ == _WIDE:
        return 2
    if isinstance(type_, Structure):
        return sum(_scalars(element) for element in type_.elements)
    return len(leaves(type_))


def _signed(constant: Constant) -> int:
    value, bits = int(constant.value), constant.type.bits
    return value - (1 << bits) if value >> (bits - 1) else value


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


_INSTRUCTIONS: dict[str, Callable[[FunctionTranslator, Cursor, str | None], None]] = {
    "icmp": FunctionTranslator._compare,
    "fcmp": FunctionTranslator._compare,
    "fneg": FunctionTranslator._negate,
    "select": FunctionTranslator._select,
    "freeze": FunctionTranslator._freeze,
    "phi": FunctionTranslator._phi,
    "getelementptr": FunctionTranslator._get_element,
    "extractvalue": FunctionTranslator._extract_value,
    "insertvalue": FunctionTranslator._insert_value,
    "extractelement": FunctionTranslator._extract_element,
    "insertelement": FunctionTranslator._insert_element,
    "shufflevector": FunctionTranslator._shuffle,
    "alloca": FunctionTranslator._alloca,
    "load": FunctionTranslator._load,
    "store": FunctionTranslator._store,
    "atomicrmw": FunctionTranslator._update,
    "cmpxchg": FunctionTranslator._compare_exchange,
    "fence": FunctionTranslator._fence,
    "call": FunctionTranslator._call,
    "invoke": FunctionTranslator._invoke,
    "ret": FunctionTranslator._return,
    "br": FunctionTranslator._branch,
    "switch": FunctionTranslator._switch,
    "unreachable": FunctionTranslator._unreachable,
}
_REFUSED = {
    "indirectbr": "a computed goto is not supported; use a switch",
    "callbr": "inline assembly with jumps (asm goto) is not supported; write it in C",
    "va_arg": "the LLVM instruction 'va_arg' is not supported; compile with clang for x86_64-linux-gnu",
    "landingpad": "a C++ exception handler is not supported; compile with -fno-exceptions",
    "resume": "C++ exceptions are not supported; compile with -fno-exceptions",
    "cleanupret": "Windows exceptions are not supported; compile for x86_64-linux-gnu",
    "catchswitch": "Windows exceptions are not supported; compile for x86_64-linux-gnu",
}
