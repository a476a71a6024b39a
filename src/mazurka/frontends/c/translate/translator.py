"""What the translation of a function works on: the values that are known, and where the next instruction goes.

Values that are aggregates in LLVM (small structures in registers, the pair that a compare-exchange gives, vectors)
are taken apart: every LLVM value is a list of scalars.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from mazurka.frontends.c.linker import Address, Linker
from mazurka.frontends.c.llvm import syntax as llvm
from mazurka.frontends.c.llvm.instruction import LLVMInstruction
from mazurka.frontends.c.llvm.module import Definition
from mazurka.frontends.c.llvm.syntax import Cursor, LLVMType, LLVMValue, Operand, Unsupported, leaves
from mazurka.frontends.c.translate.members import MemberBounds
from mazurka.frontends.c.unwinding import Site
from mazurka.program import instructions as ins
from mazurka.program.instructions import Constant, Register, Value
from mazurka.program.program import Block, Function
from mazurka.program.types import I1, I8, I64, PTR, Float, Int, Type


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call as it is written: what is called, with what, and what it gives (`leaves` of `returns`)."""

    callee: LLVMValue
    type: llvm.FunctionType
    arguments: list[tuple[Operand, llvm.Attributes]]
    result: str | None

    @property
    def returns(self) -> LLVMType:
        return self.type.returns


@dataclass(slots=True)
class PendingPhi:
    """A phi whose operands may not have been translated when it was met."""

    block: Block
    results: list[Register]
    type: LLVMType
    incoming: list[tuple[LLVMValue, str]] = field(default_factory=list)


def parameter_types(returns: LLVMType, parameters: Sequence[LLVMType], variadic: bool) -> list[Type]:
    """The scalars that a function of this type is called with, hidden ones included."""
    types = [leaf for parameter in parameters for _, leaf in leaves(parameter)]
    return [PTR] * (len(leaves(returns)) > 1) + types + [PTR] * variadic


class Translator:
    """The state of the translation of one function."""

    def __init__(self, linker: Linker, definition: Definition) -> None:
        self.linker = linker
        self.module = definition.module
        self.definition = definition
        self.location = linker.declared_at(definition)
        self.function = Function(linker.name(definition), location=self.location, library=linker.is_library(definition))
        self.function.display = linker.display(definition)
        self.text: dict[str, list[LLVMInstruction]] = {}
        self.blocks: dict[str, Block] = {}  # where each block of the text that is reached begins
        self.label = ""  # of the one that is being translated
        self.block = Block("")
        self.own_blocks: list[Block] = []  # those that the text does not have
        self.ends: dict[str, Block] = {}  # where a block of the text ends
        self.throws: dict[str, Block] = {}  # from where an exception leaves it, to its landing pad
        self.extra_arguments: Register | None = None
        self.registers_before = (0, 0)  # that the parameters before the extra ones take
        self.debug = linker.debug(definition.module)
        # What an optimiser has moved may be computed for nothing, and then may be anything.
        self.as_written = definition.module.is_unoptimised(definition.name)
        self.checks_overflow = self.as_written and linker.leeway.overflow
        self.values: dict[str, list[Value]] = {}
        self.bounds = MemberBounds(self.as_written and linker.leeway.member_bounds)
        self.variables: dict[str, int] = {}
        self.result_area: Register | None = None
        self.areas: list[ins.Instruction] = []
        self.jumped_to: Register | None = None  # the object that stands for a call of this function in a jmp_buf
        self.landings = 0
        self.phis: list[PendingPhi] = []
        self.calls: list[Site] = []
        self.pad: str | None = None  # where the call that is being translated goes on if it throws
        self.silent = False  # whether it is said not to throw
        self.clauses: dict[str, Value | None] = {}  # what the landing pads catch, if anything
        self.atomics: list[ins.Update | ins.CompareExchange] = []
        self.used: set[Register] = set()
        self.refused = False  # some of it is not supported; the rest is looked at to see whether there is more
        self.names = {"t"}  # taken; results without a name of their own are t1, t2, ...
        self._counter = 0

    def refuse(self, reason: Unsupported) -> None:
        """What is at the current place is not supported."""
        if self.text and self.linker.lenient:
            if not self.ended:
                self.emit(ins.Fail("limit", f"what this execution does is not supported: {reason}"))
            return
        self.linker.refusals.add(str(reason), self.definition, self.location)
        self.refused = True

    @property
    def ended(self) -> bool:
        """Whether nothing can follow in the current block."""
        return bool(self.block.instructions) and isinstance(self.block.instructions[-1], ins.Terminator)

    def emit(self, instruction: ins.Instruction) -> None:
        if (
            isinstance(instruction, ins.MemoryAccess)
            and instruction.ordering == "plain"
            and not self.linker.leeway.alignment
        ):
            instruction.align = 1
        instruction.location = self.location
        self.block.instructions.append(instruction)
        if isinstance(instruction, ins.Call):
            silent = self.silent or self.linker.unwinding.begins_thread(self.function.name)
            self.calls.append(Site(instruction, self, self.label, self.pad, silent))
            self.linker.unwinding.add(self.calls[-1])

    def compute(self, type_: Type, instruction: ins.Instruction, name: str | None = None) -> Register:
        """Emit an instruction with a new result."""
        register = Register(name if name is not None else self.fresh_name("t"), type_)
        instruction.result = register
        self.emit(instruction)
        return register

    def fresh_name(self, prefix: str) -> str:
        name = prefix
        while name in self.names:
            self._counter += 1
            name = f"{prefix}{self._counter}"
        self.names.add(name)
        return name

    def define(self, name: str, type_: LLVMType) -> list[Register]:
        """Registers for the LLVM value of this name."""
        types = [leaf for _, leaf in leaves(type_)]
        if len(types) == 1:
            registers = [Register(name, types[0])]
        else:
            registers = [Register(self.fresh_name(f"{name}.{index}"), leaf) for index, leaf in enumerate(types)]
        self.values[name] = list(registers)
        return registers

    def new_block(self, prefix: str) -> Block:
        """One more than the text has. To let it be the `block` that is written from now on is up to the caller."""
        block = Block(self.fresh_name(prefix))
        self.own_blocks.append(block)
        return block

    def bind(self, name: str | None, values: Sequence[Value]) -> None:
        """Let the LLVM value of this name be these scalars."""
        if name is not None:
            self.values[name] = list(values)

    def binary(self, op: ins.BinaryOp, left: Value, right: Value) -> Register:
        return self.compute(left.type, ins.Binary(op, left, right))

    def compare(self, predicate: ins.Predicate, left: Value, right: Value) -> Register:
        return self.compute(I1, ins.Compare(predicate, left, right))

    def select(self, condition: Value, if_true: Value, if_false: Value) -> Register:
        return self.compute(if_true.type, ins.Select(condition, if_true, if_false))

    def offset(self, base: Value, displacement: int) -> Value:
        """The address so many bytes further."""
        if displacement == 0:
            return base
        if isinstance(base, ins.GlobalAddress):
            return ins.GlobalAddress(base.name, base.offset + displacement)
        return self.compute(PTR, ins.Offset(base, Constant(I64, 0), 1, displacement))

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
            value, have = self.compute(I64, ins.Convert("bitcast", value)), I64
        wide = type_ if isinstance(type_, Int) else I64
        if have.bits != wide.bits:
            value = self.compute(wide, ins.Convert("zext" if have.bits < wide.bits else "trunc", value))
        return value if wide == type_ else self.compute(type_, ins.Convert("bitcast", value))

    def area(self, size: int) -> Register:
        """Memory of this call that no other thread can get at: allocated once, on entry."""
        register = Register(self.fresh_name("area"), PTR)
        self.areas.append(
            ins.StackAlloc(Constant(I64, size), private=True, result=register, location=self.function.location)
        )
        return register

    def stack_alloc(self, size: int | Value, name: str) -> Register:
        variable, debug_type = None, None
        if name in self.variables:
            variable, debug_type = self.debug.local_variable(self.variables[name])
        count = Constant(I64, size) if isinstance(size, int) else size
        register = Register(name if name not in self.values else self.fresh_name(name), PTR)
        self.emit(ins.StackAlloc(count, variable=variable, debug_type=debug_type, result=register))
        return register

    def call_library(self, name: str, arguments: Sequence[Value]) -> Register | None:
        """Call a model that the front end itself relies on."""
        definition = self.linker.find_function(self.module, name)
        if definition is None:
            raise Unsupported(f"the library function '{name}' is missing from this installation of Mazurka")
        header = definition.module.header(definition.name)
        types = parameter_types(header.returns, header.type.parameters, header.variadic)
        fitted = [self.fit(value, type_) for value, type_ in zip(arguments, types, strict=True)]
        call = ins.Call(self.linker.name(definition), fitted)
        for _, type_ in leaves(header.returns):
            return self.compute(type_, call)
        self.emit(call)
        return None

    def operand(self, operand: Operand) -> list[Value]:
        """The scalars of an operand, which count as used."""
        values = self.parts(operand.type, operand.value)
        self.used.update(value for value in values if isinstance(value, Register))
        return values

    def scalar(self, operand: Operand) -> Value:
        values = self.operand(operand)
        if len(values) != 1:
            raise Unsupported("an operation on a vector or structure as a whole is not supported")
        return values[0]

    def parts(self, type_: LLVMType, value: LLVMValue) -> list[Value]:
        """The scalars of a value, of which none counts as used for that."""
        match value:
            case llvm.Local(name):
                if name not in self.values:
                    known = leaves(type_)  # refuses what cannot be a value
                    if self.refused:  # what gives this value, say
                        return [Constant(leaf, undefined=True) for _, leaf in known]
                    raise Unsupported(f"the LLVM value %{name} is not understood")
                return self.values[name]
            case llvm.Aggregate(elements):
                return [part for element in elements for part in self.parts(element.type, element.value)]
            case llvm.Characters(data):
                return [Constant(I8, byte) for byte in data]
            case llvm.Zero() | llvm.Undefined():
                return [Constant(leaf, undefined=isinstance(value, llvm.Undefined)) for _, leaf in leaves(type_)]
            case llvm.Assembly():
                raise Unsupported("inline assembly is not supported; write it in C, or with atomics")
        if type_ == llvm.WIDE:
            number = self.linker.evaluate(self.module, value)
            if not isinstance(number, int):
                raise Unsupported("a constant of 128 bits computed from addresses is not supported")
            return [Constant(I64, number >> shift & (1 << 64) - 1) for shift in (0, 64)]
        ((_, scalar),) = leaves(type_)
        try:
            return [self._constant(scalar, self.linker.evaluate(self.module, value))]
        except Unsupported:
            # A number made from several addresses is known when the program runs.
            if not isinstance(value, llvm.Expression) or value.op not in ("add", "sub", "xor"):
                raise
            left, right = (self.fit(self.scalar(operand), scalar) for operand in value.operands)
            return [self.binary(cast(ins.BinaryOp, value.op), left, right)]

    def _constant(self, type_: Type, constant: int | float | Address | llvm.Undefined) -> Value:
        if isinstance(constant, llvm.Undefined):
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
            self.linker.note_use(address.name, self.definition, self.location)
            return ins.FunctionAddress(address.name)
        if address.thread_local:
            return self.offset(self.compute(PTR, ins.ThreadLocalAddress(address.name)), address.offset)
        return ins.GlobalAddress(address.name, address.offset)


def constant_of(value: Value) -> int:
    if not isinstance(value, Constant):
        raise Unsupported("this argument must be a constant")
    return int(value.value)


# How an instruction is translated, given what comes after its opcode and the name of its result.
Translation = Callable[[Translator, Cursor, str | None], None]
# The same of a call that is one, given its arguments; it gives the scalars of the result.
Builtin = Callable[[Translator, CallSite, list[Value]], Sequence[Value]]
