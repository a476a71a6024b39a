"""From a `Program` to the flat code that the machine runs (see `native/vm/code.hpp` for its instructions)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mazurka import _native
from mazurka.errors import InputError
from mazurka.machine.layout import MAX_OBJECT_SIZE, OBJECT_LIMIT, address_of
from mazurka.machine.registers import allocate
from mazurka.program import cfg
from mazurka.program import instructions as ins
from mazurka.program.program import Block, Function, GlobalVariable, Program
from mazurka.program.types import PTR, Float, Type
from mazurka.program.validate import validate

_RECORD = struct.Struct("<HBBiiiiiQ")


def _numbers(vocabulary: str) -> dict[str, int]:
    return {word: number for number, word in enumerate(_native.VOCABULARIES[vocabulary])}


_OPCODES = _numbers("Op")
_ORDERINGS = _numbers("Ordering")
_UPDATES = _numbers("UpdateOp")
_FAULTS = _numbers("Fault")
_ORIGINS = _numbers("Origin")
_CLAIMS = _numbers("ClaimKind")


@dataclass(frozen=True, slots=True)
class Lowered:
    """Code for the machine, and the way back: what each position of the code came from, and the names behind the
    numbers of functions, globals and thread-locals. `code_of` gives the code of a program that differs from this one
    only in the contents of its globals."""

    code: _native.Code
    origin: list[tuple[Function, ins.Instruction]]
    functions: list[str]
    globals: list[str]
    thread_locals: list[str]
    code_of: Callable[[Program], _native.Code]
    program: Program


def lower(program: Program) -> Lowered:
    """The code of a program. Raises `InvalidProgram` if it breaks a rule that the machine relies on: what it does then
    would be no answer about the program."""
    validate(program)
    return _Lowering(program).run()


class _Lowering:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.functions = list(program.functions)
        self.globals = [name for name, variable in program.globals.items() if not variable.thread_local]
        self.thread_locals = [name for name, variable in program.globals.items() if variable.thread_local]
        # Object 0 is null; functions and globals follow, as the machine lays them out.
        self.addresses = {name: address_of(0, 1 + index) for index, name in enumerate([*self.functions, *self.globals])}
        self.function_numbers = {name: index for index, name in enumerate(self.functions)}
        self.thread_local_numbers = {name: index for index, name in enumerate(self.thread_locals)}
        self.records: list[list[int]] = []
        self.origin: list[tuple[Function, ins.Instruction]] = []
        self.constants: dict[tuple[int, int], int] = {}
        self.operands: list[int] = []

    def run(self) -> Lowered:
        table: list[tuple[int, int, int, bool]] = []
        for name, function in self.program.functions.items():
            entry = len(self.records)
            registers = _FunctionLowering(self, function).run()
            table.append((entry, registers, len(function.parameters), function.library))
            assert name == function.name
        instructions = b"".join(_RECORD.pack(*record) for record in self.records)
        self.records.clear()

        def code_of(program: Program) -> _native.Code:
            variables = program.globals
            return _native.Code(
                instructions=instructions,
                constants=list(self.constants),
                operands=self.operands,
                functions=table,
                globals=[(self.initial_bytes(variables[name]), variables[name].constant) for name in self.globals],
                thread_locals=[
                    (self.initial_bytes(variables[name]), variables[name].private) for name in self.thread_locals
                ],
                entry=self.function_numbers[program.entry],
            )

        code = code_of(self.program)
        return Lowered(code, self.origin, self.functions, self.globals, self.thread_locals, code_of, self.program)

    def initial_bytes(self, variable: GlobalVariable) -> bytes:
        if len(variable.data) > MAX_OBJECT_SIZE:
            where = f"{variable.location}: " if variable.location else ""
            raise InputError(
                f"{where}'{variable.name}' is larger than an object may be, {OBJECT_LIMIT}; make it smaller"
            )
        if not variable.relocations:
            return variable.data
        data = bytearray(variable.data)
        for relocation in variable.relocations:
            address = (self.addresses[relocation.target] + relocation.addend) % 2**64
            data[relocation.offset : relocation.offset + 8] = address.to_bytes(8, "little")
        return bytes(data)

    def constant(self, value: int, undefined: int = 0) -> int:
        """The operand that stands for a constant."""
        return ~self.constants.setdefault((value, undefined), len(self.constants))


def bits_of(value: ins.Constant) -> int:
    if isinstance(value.type, Float):
        return int.from_bytes(struct.pack("<f" if value.type.bits == 32 else "<d", value.value), "little")
    return int(value.value) % (1 << value.type.bits)


class _FunctionLowering:
    """One function: its blocks in reverse postorder, with the moves that phis stand for on the edges."""

    def __init__(self, whole: _Lowering, function: Function) -> None:
        self.whole = whole
        self.function = function
        self.order = cfg.reverse_postorder(function)
        self.numbers, self.register_count = allocate(function, self.order)
        self.spare: int | None = None
        self.starts: dict[str, int] = {}
        # places to fill in once the starts of blocks are known: (record or operand list, index, block)
        self.patches: list[tuple[list[int], int, str]] = []
        self.current: ins.Instruction

    def run(self) -> int:
        for position, name in enumerate(self.order):
            self.starts[name] = len(self.whole.records)
            following = self.order[position + 1] if position + 1 < len(self.order) else None
            block = self.function.blocks[name]
            for instruction in block.instructions[:-1]:
                self.current = instruction
                self.instruction(instruction)
            self.current = block.terminator
            self.terminator(block, following)
        for target, index, name in self.patches:
            target[index] = self.starts[name]
        return self.register_count

    # ----------------------------------------------------------------------------------------- pieces

    def emit(
        self,
        op: str,
        *,
        dst: ins.Register | None = None,
        bits: int = 64,
        size: int = 0,
        a: int = 0,
        b: int = 0,
        c: int = 0,
        d: int = 0,
        imm: int = 0,
    ) -> list[int]:
        number = -1 if dst is None else self.numbers[dst]
        record = [_OPCODES[op], bits, size, number, a, b, c, d, imm % 2**64]
        self.whole.records.append(record)
        self.whole.origin.append((self.function, self.current))
        return record

    def value(self, value: ins.Value) -> int:
        match value:
            case ins.Register():
                return self.numbers[value]
            case ins.Constant():
                undefined = (1 << value.type.bits) - 1 if value.undefined else 0
                return self.whole.constant(bits_of(value), undefined)
            case ins.GlobalAddress(name, offset):
                return self.whole.constant((self.whole.addresses[name] + offset) % 2**64)
            case ins.FunctionAddress(name):
                return self.whole.constant(self.whole.addresses[name])

    def arguments(self, values: Sequence[ins.Value]) -> int:
        start = len(self.whole.operands)
        self.whole.operands.extend(self.value(value) for value in values)
        return start

    # ----------------------------------------------------------------------------------- instructions

    def instruction(self, instruction: ins.Instruction) -> None:
        dst = instruction.result
        match instruction:
            case ins.Binary(op, left, right, checked):
                name = f"checked_{op}" if checked else op
                self.emit(name, dst=dst, bits=left.type.bits, a=self.value(left), b=self.value(right))
            case ins.Compare(predicate, left, right):
                self.emit(predicate, dst=dst, bits=left.type.bits, a=self.value(left), b=self.value(right))
            case ins.Convert(op, value):
                assert dst is not None
                name = "move" if op in ("zext", "bitcast") else op
                self.emit(name, dst=dst, bits=dst.type.bits, a=self.value(value), imm=value.type.bits)
            case ins.Unary(op, value):
                self.emit(op, dst=dst, bits=value.type.bits, a=self.value(value))
            case ins.MultiplyAdd(left, right, addend):
                a, b, c = self.value(left), self.value(right), self.value(addend)
                self.emit("fma", dst=dst, bits=left.type.bits, a=a, b=b, c=c)
            case ins.AnyOfSign(sign):  # (a program that nobody has prepared: one of the numbers is as good as any)
                self.emit("move", dst=dst, bits=32, a=self.value(sign))
            case ins.Landing(number):
                self.emit("landing", dst=dst, imm=number)
            case ins.Select(condition, if_true, if_false):
                a, b, c = self.value(condition), self.value(if_true), self.value(if_false)
                self.emit("select", dst=dst, bits=if_true.type.bits, a=a, b=b, c=c)
            case ins.Offset(base, index, scale, displacement, limit):
                if not -(2**31) <= scale < 2**31:
                    raise InputError(
                        f"{instruction.location}: elements of {scale} bytes are larger than any object may be"
                    )
                a, b = self.value(base), self.value(index)
                name = "offset" if limit is None else "checked_offset"
                self.emit(name, dst=dst, a=a, b=b, c=limit or 0, d=scale, imm=displacement)
            case ins.Load():
                assert dst is not None
                self.access("load", instruction, dst.type)
            case ins.Store(value):
                self.access("store", instruction, value.type, b=self.value(value))
            case ins.Update(op, _, value):
                self.access("update", instruction, value.type, b=self.value(value), d=_UPDATES[op])
            case ins.CompareExchange(_, expected, desired, success):
                pair = self.arguments([desired])
                self.whole.operands.append(-1 if success is None else self.numbers[success])
                self.whole.operands.append(_ORDERINGS[instruction.failure_ordering])
                self.access("compare_exchange", instruction, expected.type, b=self.value(expected), d=pair)
            case ins.StackAlloc(size):
                self.emit("stack_alloc", dst=dst, a=self.value(size), c=int(instruction.private))
            case ins.HeapAlloc(size, zeroed, reuse):
                self.emit("heap_alloc", dst=dst, a=self.value(size), c=int(zeroed), d=int(reuse))
            case ins.Free(address):
                self.emit("free", a=self.value(address))
            case ins.BlockSize(address):
                self.emit("block_size", dst=dst, a=self.value(address))
            case ins.ThreadLocalAddress(name):
                self.emit("thread_local_address", dst=dst, imm=self.whole.thread_local_numbers[name])
            case ins.Call(callee, arguments):
                if isinstance(callee, str):
                    number = self.whole.function_numbers[callee]
                    self.emit("call", dst=dst, imm=number, c=self.arguments(arguments), d=len(arguments))
                else:
                    a = self.value(callee)
                    self.emit("call_pointer", dst=dst, a=a, c=self.arguments(arguments), d=len(arguments))
            case ins.Spawn(function, arguments):
                a = self.value(function)
                self.emit("spawn", dst=dst, a=a, c=self.arguments(arguments), d=len(arguments))
            case ins.Self():
                self.emit("self", dst=dst)
            case ins.Choose(count):
                self.emit("choose", dst=dst, a=self.value(count))
            case ins.Assume(condition, origin):
                self.emit("assume", a=self.value(condition), c=_ORIGINS[origin])
            case ins.Await(condition, _, object, holder):
                self.emit("await", a=self.value(condition), b=self.value(object), c=self.value(holder))
            case ins.Claim(lock, kind):
                self.emit("claim", a=self.value(lock), c=_CLAIMS[kind])
            case ins.AtomicBegin(guarded):
                self.emit("atomic_begin", c=int(guarded))
            case ins.AtomicEnd():
                self.emit("atomic_end")
            case ins.Relax():
                self.emit("relax")
            case ins.Fence(ordering):
                self.emit("fence", c=_ORDERINGS[ordering])
            case ins.Output(byte):
                self.emit("output", a=self.value(byte))
            case _:
                raise AssertionError(f"no code for {instruction}")

    def access(
        self,
        op: str,
        instruction: ins.Load | ins.Store | ins.Update | ins.CompareExchange,
        type: Type,
        *,
        b: int = 0,
        d: int = 0,
    ) -> None:
        self.emit(
            op,
            dst=instruction.result,
            bits=type.bits,
            size=type.size,
            a=self.value(instruction.address),
            b=b,
            c=_ORDERINGS[instruction.ordering],
            d=d,
            imm=instruction.align,
        )

    # ------------------------------------------------------------------------------------ terminators

    def terminator(self, block: Block, following: str | None) -> None:
        match block.terminator:
            case ins.Jump(target):
                self.moves(block, target)
                if target != following:
                    self.jump_to(self.emit("jump"), 8, target)
            case ins.Branch(condition, if_true, if_false):
                record = self.emit("branch", a=self.value(condition))
                self.edge(block, record, 8, if_true)
                self.edge(block, record, 7, if_false)
            case ins.Switch(value, cases, default):
                bits = value.type.bits
                start = len(self.whole.operands)
                for key, _ in cases:
                    self.whole.operands += [self.whole.constant(key % (1 << bits)), 0]
                record = self.emit("switch", bits=bits, a=self.value(value), c=start, d=len(cases))
                for index, (_, target) in enumerate(cases):
                    self.edge(block, self.whole.operands, start + 2 * index + 1, target)
                self.edge(block, record, 8, default)
            case ins.Return(value):
                if value is None:
                    self.emit("return")
                else:
                    self.emit("return", a=self.value(value), b=1)
            case ins.LongJump(object, landing, value):
                self.emit("long_jump", a=self.value(object), b=self.value(landing), c=self.value(value))
            case ins.EndThread(status):
                if status is None:
                    self.emit("end_thread")
                else:
                    self.emit("end_thread", a=self.value(status), b=1)
            case ins.Exit(status):
                self.emit("exit", a=self.value(status))
            case ins.Fail(kind, _, details, cause):
                null = ins.Constant(PTR)
                self.emit("fail", a=self.value(details or null), b=self.value(cause or null), c=_FAULTS[kind])
            case ins.Unreachable():
                self.emit("unreachable")
            case _:
                raise AssertionError(f"no code for {block.terminator}")

    def jump_to(self, target: list[int], index: int, block: str) -> None:
        self.patches.append((target, index, block))

    def edge(self, block: Block, target: list[int], index: int, successor: str) -> None:
        """Go to `successor`; by way of some moves if it has phis."""
        if not self.function.blocks[successor].phis:
            self.jump_to(target, index, successor)
            return
        target[index] = len(self.whole.records)
        self.moves(block, successor)
        self.jump_to(self.emit("jump"), 8, successor)

    def moves(self, block: Block, successor: str) -> None:
        """Give the phis of `successor` their values for control coming from `block`, all at once."""
        pending: dict[int, int] = {}
        for phi in self.function.blocks[successor].phis:
            source = next(value for name, value in phi.incoming if name == block.name)
            operand = self.value(source)
            if operand != self.numbers[phi.result]:
                pending[self.numbers[phi.result]] = operand
        while pending:
            ready = next((register for register in pending if register not in pending.values()), None)
            if ready is None:
                # Only cycles are left: set one value aside.
                register = next(iter(pending))
                if self.spare is None:
                    self.spare = self.register_count
                    self.register_count += 1
                self.move(self.spare, register)
                pending = {to: self.spare if of == register else of for to, of in pending.items()}
                ready = register
            self.move(ready, pending.pop(ready))

    def move(self, register: int, operand: int) -> None:
        self.emit("move", a=operand)[3] = register
