"""Writing programs in Python, for tests, generators and experiments.

    p = ProgramBuilder()
    x = p.variable("x", I32, 0)
    with p.function("worker") as f:
        f.store(x, f.add(f.load(x), 1))
    with p.function("main") as f:
        thread = f.spawn("worker")
        f.update("add", x, 1, used=False)
        f.join(thread)
        f.check(f.eq(f.load(x), 2), "an update was lost")
    program = p.build()

Numbers stand for constants wherever the type of the other operand, of the variable or of the parameter tells theirs.
Instructions go to the end of the current block; control structures (`if_`, `while_`, ...) make blocks as they need
them, `block` starts one by hand. A function that falls off its end returns.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Literal, overload

from mazurka.machine.layout import THREAD_DONE
from mazurka.program import instructions as ins
from mazurka.program.cfg import successors
from mazurka.program.instructions import (
    Constant,
    FunctionAddress,
    GlobalAddress,
    Instruction,
    Location,
    Phi,
    Register,
    Value,
)
from mazurka.program.program import Block, Function, GlobalVariable, Program, Relocation
from mazurka.program.types import I1, I8, I32, I64, PTR, Float, Type
from mazurka.program.validate import validate

Operand = Value | int | float
Guard = Callable[[Register], Operand]
NULL = Constant(PTR, 0)


class ProgramBuilder:
    """Collects global variables and functions; `build` gives the program."""

    def __init__(self, entry: str = "main") -> None:
        self.program = Program(entry=entry)
        self.types: dict[str, Type] = {}  # of the variables, or of an array's elements

    def variable(self, name: str, type: Type = I32, value: int | float = 0, *, constant: bool = False) -> GlobalAddress:
        return self.array(name, type, [value], constant=constant)

    def array(self, name: str, type: Type, values: Sequence[int | float], *, constant: bool = False) -> GlobalAddress:
        """Several variables of one type in a row; `offset` and `element` get at them."""
        self.types[name] = type
        return self.data(name, b"".join(_encode(type, value) for value in values), constant=constant)

    def data(
        self, name: str, data: bytes, relocations: Iterable[Relocation] = (), *, constant: bool = False
    ) -> GlobalAddress:
        """A variable given by its bytes."""
        self._add_global(GlobalVariable(name, data, list(relocations), constant=constant))
        return GlobalAddress(name)

    def thread_local(self, name: str, type: Type = I32, value: int | float = 0) -> str:
        """A variable that each thread has for itself; `FunctionBuilder.thread_local` gives its address."""
        self.types[name] = type
        self._add_global(GlobalVariable(name, _encode(type, value), thread_local=True))
        return name

    def mutex(self, name: str) -> GlobalAddress:
        """For `lock`, `trylock` and `unlock`: the control block of the thread that holds it, or null."""
        return self.variable(name, PTR)

    def function(self, name: str, *parameters: Type, returns: Type | None = None) -> FunctionBuilder:
        """Add a function, to be filled in a `with` statement. It is known by name from here on."""
        if name in self.program.functions:
            raise ValueError(f"there already is a function {name!r}")
        function = Function(name, [Register("", type) for type in parameters], returns)
        self.program.functions[name] = function
        return FunctionBuilder(self, function)

    def build(self) -> Program:
        """The program, once it has passed validation."""
        validate(self.program)
        return self.program

    def _add_global(self, variable: GlobalVariable) -> None:
        if variable.name in self.program.globals:
            raise ValueError(f"there already is a global {variable.name!r}")
        self.program.globals[variable.name] = variable


class FunctionBuilder:
    """Adds instructions to a function, at the end of the current block."""

    def __init__(self, program: ProgramBuilder, function: Function) -> None:
        self.function = function
        self._program = program
        self._pointees: dict[Register, Type] = {}  # what is at an address, where that is known
        self._location: Location | None = None
        self._loops: list[tuple[str, str]] = []  # the targets of `continue_` and `break_`, innermost last
        # For an `else_`: the branch, the end, and whether that is entered so far.
        self._open_if: tuple[ins.Branch, Block, bool] | None = None
        self._labels = 0
        self._targets: set[str] = set()  # the blocks that others go to
        self._current: Block | None = Block("entry")
        function.blocks["entry"] = self._current

    def __enter__(self) -> FunctionBuilder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None and self._current is not None:
            self.ret()

    @property
    def parameters(self) -> list[Register]:
        return self.function.parameters

    @property
    def here(self) -> str:
        """The name of the current block, for phis."""
        return self._block().name

    @property
    def ended(self) -> bool:
        """Whether nothing can get here: the current block has ended, and no other was started."""
        return self._current is None

    def at(self, file: str, line: int, column: int = 0) -> None:
        """The source location of the instructions that follow."""
        self._location = Location(file, line, column)

    # ------------------------------------------------------------------------------------------- arithmetic

    def binary(self, op: ins.BinaryOp, left: Operand, right: Operand, *, checked: bool = False) -> Register:
        first, second = self._pair(left, right)
        return self._define(first.type, ins.Binary(op, first, second, checked))

    def add(self, left: Operand, right: Operand) -> Register:
        return self.binary("add", left, right)

    def sub(self, left: Operand, right: Operand) -> Register:
        return self.binary("sub", left, right)

    def mul(self, left: Operand, right: Operand) -> Register:
        return self.binary("mul", left, right)

    def and_(self, left: Operand, right: Operand) -> Register:
        return self.binary("and", left, right)

    def or_(self, left: Operand, right: Operand) -> Register:
        return self.binary("or", left, right)

    def xor(self, left: Operand, right: Operand) -> Register:
        return self.binary("xor", left, right)

    def compare(self, predicate: ins.Predicate, left: Operand, right: Operand) -> Register:
        first, second = self._pair(left, right)
        return self._define(I1, ins.Compare(predicate, first, second))

    def eq(self, left: Operand, right: Operand) -> Register:
        return self.compare("eq", left, right)

    def ne(self, left: Operand, right: Operand) -> Register:
        return self.compare("ne", left, right)

    def slt(self, left: Operand, right: Operand) -> Register:
        return self.compare("slt", left, right)

    def sle(self, left: Operand, right: Operand) -> Register:
        return self.compare("sle", left, right)

    def sgt(self, left: Operand, right: Operand) -> Register:
        return self.compare("sgt", left, right)

    def sge(self, left: Operand, right: Operand) -> Register:
        return self.compare("sge", left, right)

    def not_(self, condition: Operand) -> Register:
        return self.xor(self._value(condition, I1), 1)

    def unary(self, op: ins.UnaryOp, value: Value) -> Register:
        return self._define(value.type, ins.Unary(op, value))

    def multiply_add(self, left: Value, right: Value, addend: Value) -> Register:
        return self._define(left.type, ins.MultiplyAdd(left, right, addend))

    def any_of_sign(self, sign: Operand) -> Register:
        return self._define(I32, ins.AnyOfSign(self._value(sign, I32)))

    def landing(self, number: int) -> Register:
        return self._define(I32, ins.Landing(number))

    def long_jump(self, object: Value, landing: Operand, value: Operand) -> None:
        self._emit(ins.LongJump(object, self._value(landing, I64), self._value(value, I32)))

    def convert(self, op: ins.ConvertOp, value: Value, type: Type) -> Register:
        return self._define(type, ins.Convert(op, value))

    def select(self, condition: Operand, if_true: Operand, if_false: Operand) -> Register:
        first, second = self._pair(if_true, if_false)
        return self._define(first.type, ins.Select(self._value(condition, I1), first, second))

    def offset(self, base: Value, index: Operand = 0, scale: int = 1, displacement: int = 0) -> Register:
        """The address `base + index * scale + displacement`."""
        return self._address(ins.Offset(base, self._value(index, I64), scale, displacement), self._pointee(base))

    def element(self, array: Value, index: Operand) -> Register:
        """The address of an element of an array whose type is known."""
        return self.offset(array, index, self._type_at(array, None).size)

    # ----------------------------------------------------------------------------------------------- memory

    def load(
        self,
        address: Value,
        type: Type | None = None,
        *,
        guard: Guard | None = None,
        ordering: ins.Ordering = "plain",
        align: int = 1,
    ) -> Register:
        """Read. With a `guard`, wait for a value that satisfies it."""
        access = ins.Load(address, ordering, align)
        return self._guarded(guard, lambda: self._define(self._type_at(address, type), access))

    def store(
        self,
        address: Value,
        value: Operand,
        type: Type | None = None,
        *,
        ordering: ins.Ordering = "plain",
        align: int = 1,
    ) -> None:
        self._emit(ins.Store(self._value_at(address, value, type), address, ordering, align))

    @overload
    def update(
        self, op: ins.UpdateOp, address: Value, value: Operand, type: Type | None = None, *,
        guard: Guard | None = None, used: Literal[True] = True, ordering: ins.Ordering = "seq_cst", align: int = 1,
    ) -> Register: ...  # fmt: skip

    @overload
    def update(
        self, op: ins.UpdateOp, address: Value, value: Operand, type: Type | None = None, *,
        guard: Guard | None = None, used: bool, ordering: ins.Ordering = "seq_cst", align: int = 1,
    ) -> Register | None: ...  # fmt: skip

    def update(
        self,
        op: ins.UpdateOp,
        address: Value,
        value: Operand,
        type: Type | None = None,
        *,
        guard: Guard | None = None,
        used: bool = True,
        ordering: ins.Ordering = "seq_cst",
        align: int = 1,
    ) -> Register | None:
        """Read, combine and write in one. With a `guard`, wait for an old value that satisfies it. If the old value is
        not `used`, equal operations commute."""
        new = self._value_at(address, value, type)
        access = ins.Update(op, address, new, ordering, align)
        if used:
            return self._guarded(guard, lambda: self._define(new.type, access))
        if guard is not None:
            raise ValueError("a guard uses the old value")
        self._emit(access)
        return None

    def compare_exchange(
        self,
        address: Value,
        expected: Operand,
        desired: Operand,
        type: Type | None = None,
        *,
        guard: Guard | None = None,
        ordering: ins.Ordering = "seq_cst",
        align: int = 1,
        failure: ins.Ordering | None = None,
    ) -> tuple[Register, Register]:
        """The old value, and whether it was the expected one, so that the desired one was written. With a `guard`, wait
        for an old value that satisfies it."""
        old = self._value_at(address, expected, type)
        new = self._value(desired, old.type)
        success = Register("", I1)
        access = ins.CompareExchange(address, old, new, success, ordering, align, failure)
        return self._guarded(guard, lambda: self._define(old.type, access)), success

    def local(self, name: str, type: Type = I32, value: Operand | None = None) -> Register:
        """The address of a new variable on the stack, uninitialised without a `value`."""
        address = self._address(ins.StackAlloc(Constant(I64, type.size), variable=name), type, name)
        if value is not None:
            self.store(address, value)
        return address

    def stack_alloc(self, size: Operand) -> Register:
        return self._address(ins.StackAlloc(self._value(size, I64)), None)

    def malloc(self, size: Operand, type: Type | None = None, *, zeroed: bool = False, reuse: bool = False) -> Register:
        """The address of a new block on the heap, of values of a `type` if one is given."""
        return self._address(ins.HeapAlloc(self._value(size, I64), zeroed, reuse), type)

    def free(self, address: Operand) -> None:
        self._emit(ins.Free(self._value(address, PTR)))

    def block_size(self, address: Value) -> Register:
        return self._define(I64, ins.BlockSize(address))

    def thread_local(self, name: str) -> Register:
        """The address of this thread's copy of a variable."""
        return self._address(ins.ThreadLocalAddress(name), self._program.types.get(name))

    # ------------------------------------------------------------------------------------- threads, sections

    def spawn(self, function: str | Value, *arguments: Operand) -> Register:
        """Start a thread; the result is for `join`."""
        started = FunctionAddress(function) if isinstance(function, str) else function
        return self._define(PTR, ins.Spawn(started, self._arguments(started, arguments)))

    def join(self, thread: Value) -> None:
        """Wait for the end of a thread."""
        address = self.offset(thread, displacement=THREAD_DONE)
        with self.atomic():
            done = self.load(address, I32, ordering="acquire")
            self.await_(self.ne(done, 0), "thread", thread, thread)

    def self(self) -> Register:
        """The address of this thread's control block."""
        return self._define(PTR, ins.Self())

    def lock(self, mutex: Value) -> None:
        with self.atomic():
            holder = self.load(mutex, PTR, ordering="acquire")
            self.claim(mutex, "acquire")
            self.await_(self.eq(holder, NULL), "mutex", mutex, holder)
            self.store(mutex, self.self(), ordering="release")

    def trylock(self, mutex: Value) -> Register:
        """Whether the mutex was free; then it is held. Never waits. It is one access, so it makes no claim."""
        return self.compare_exchange(mutex, NULL, self.self())[1]

    def unlock(self, mutex: Value) -> None:
        with self.atomic():
            holder = self.load(mutex, PTR, ordering="acquire")
            self.check(self.eq(holder, self.self()), "unlock of a mutex that this thread does not hold", "sync")
            self.claim(mutex, "release")
            self.store(mutex, NULL, ordering="release")

    @contextmanager
    def atomic(self, *, guarded: bool = False) -> Iterator[None]:
        """What is inside is one event; `guarded`: one access and its guards."""
        self._emit(ins.AtomicBegin(guarded))
        yield
        if self._current is not None:
            self._emit(ins.AtomicEnd())

    def atomic_begin(self) -> None:
        self._emit(ins.AtomicBegin())

    def atomic_end(self) -> None:
        self._emit(ins.AtomicEnd())

    def assume(self, condition: Operand, origin: ins.AssumeOrigin = "program") -> None:
        self._emit(ins.Assume(self._value(condition, I1), origin))

    def await_(self, condition: Operand, what: str, object: Operand, holder: Operand = NULL) -> None:
        self._emit(ins.Await(self._value(condition, I1), what, self._value(object, PTR), self._value(holder, PTR)))

    def claim(self, lock: Operand, kind: ins.ClaimKind) -> None:
        self._emit(ins.Claim(self._value(lock, PTR), kind))

    def relax(self) -> None:
        """What the section around this has accessed so far does not synchronise."""
        self._emit(ins.Relax())

    def fence(self, ordering: ins.Ordering = "seq_cst") -> None:
        self._emit(ins.Fence(ordering))

    def choose(self, count: Operand) -> Register:
        """Any number from 0 to `count` - 1."""
        return self._define(I32, ins.Choose(self._value(count, I32)))

    # ------------------------------------------------------------------------------------------------- calls

    @overload
    def call(self, callee: str | Value, *arguments: Operand, returns: None = None) -> None: ...

    @overload
    def call(self, callee: str | Value, *arguments: Operand, returns: Type) -> Register: ...

    def call(self, callee: str | Value, *arguments: Operand, returns: Type | None = None) -> Register | None:
        """Call a function, by name or through a pointer. With `returns`, what it returns is the result."""
        function = FunctionAddress(callee) if isinstance(callee, str) else callee
        instruction = ins.Call(callee, self._arguments(function, arguments))
        if returns is not None:
            return self._define(returns, instruction)
        self._emit(instruction)
        return None

    def ret(self, value: Operand | None = None) -> None:
        if value is None:
            self._emit(ins.Return())
        else:
            self._emit(ins.Return(self._value(value, self.function.returns)))

    def output(self, byte: Operand) -> None:
        self._emit(ins.Output(self._value(byte, I8)))

    def print(self, text: str) -> None:
        for byte in text.encode():
            self.output(byte)

    # -------------------------------------------------------------------------------------------------- ends

    def check(self, condition: Operand, message: str = "assertion failed", kind: ins.FailureKind = "assertion") -> None:
        """Fail unless the condition holds."""
        ok, failed = Block(self._label("ok")), Block(self._label("failed"))
        self._emit(ins.Branch(self._value(condition, I1), ok.name, failed.name))
        self._start(failed)
        self.fail(kind, message)
        self._start(ok)

    def fail(self, kind: ins.FailureKind, message: str) -> None:
        self._emit(ins.Fail(kind, message))

    def exit(self, status: Operand = 0) -> None:
        self._emit(ins.Exit(self._value(status, I32)))

    def end_thread(self, status: Operand | None = None) -> None:
        self._emit(ins.EndThread(None if status is None else self._value(status, I32)))

    def unreachable(self) -> None:
        self._emit(ins.Unreachable())

    # ------------------------------------------------------------------------------------ control structures

    @contextmanager
    def if_(self, condition: Operand) -> Iterator[None]:
        """What is inside runs only where the condition holds. An `else_` may follow directly."""
        then, end = Block(self._label("then")), Block(self._label("end"))
        branch = ins.Branch(self._value(condition, I1), then.name, end.name)
        self._emit(branch)
        self._start(then)
        yield
        reaches_end = self._current is not None
        if reaches_end:
            self.jump(end.name)
        self._start(end)
        self._open_if = (branch, end, reaches_end)

    @contextmanager
    def else_(self) -> Iterator[None]:
        """What is inside runs where the condition of the `if_` directly before did not hold."""
        if self._open_if is None or self._current is not self._open_if[1]:
            raise ValueError("an else_ must directly follow its if_")
        branch, end, reaches_end = self._open_if
        del self.function.blocks[end.name]
        otherwise = Block(self._label("else"))
        branch.if_false = otherwise.name
        self._start(otherwise)
        yield
        if self._current is not None:
            self.jump(end.name)
            reaches_end = True
        if reaches_end:
            self._start(end)

    @contextmanager
    def loop(self) -> Iterator[None]:
        """Repeat what is inside, until a `break_` or the end of the function."""
        start, end = Block(self._label("loop")), Block(self._label("end"))
        self.jump(start.name)
        self._start(start)
        self._loops.append((start.name, end.name))
        yield
        self._loops.pop()
        if self._current is not None:
            self.jump(start.name)
        if end.name in self._targets:
            self._start(end)

    @contextmanager
    def while_(self, condition: Callable[[], Operand]) -> Iterator[None]:
        """Repeat what is inside as long as the condition, evaluated before each round, holds."""
        with self.loop():
            body = Block(self._label("body"))
            self._emit(ins.Branch(self._value(condition(), I1), body.name, self._loops[-1][1]))
            self._start(body)
            yield

    @contextmanager
    def repeat(self, count: Operand) -> Iterator[Register]:
        """Repeat what is inside `count` times; the register counts the rounds from 0."""
        limit = self._value(count, I32)
        before = self.here
        start, body = Block(self._label("loop")), Block(self._label("body"))
        following, end = Block(self._label("next")), Block(self._label("end"))
        self.jump(start.name)
        self._start(start)
        index = self.phi(I32, (before, 0))
        self._emit(ins.Branch(self.slt(index, limit), body.name, end.name))
        self._start(body)
        self._loops.append((following.name, end.name))
        yield index
        self._loops.pop()
        if self._current is not None:
            self.jump(following.name)
        if following.name in self._targets:
            self._start(following)
            self.incoming(index, following.name, self.add(index, 1))
            self.jump(start.name)
        self._start(end)

    def break_(self) -> None:
        self.jump(self._loops[-1][1])

    def continue_(self) -> None:
        self.jump(self._loops[-1][0])

    # ------------------------------------------------------------------------------------- blocks by hand

    def block(self, name: str) -> None:
        """Start a block; the current one, if it has not ended, goes on there."""
        if self._current is not None:
            self.jump(name)
        self._start(Block(name))

    def jump(self, target: str) -> None:
        self._emit(ins.Jump(target))

    def branch(self, condition: Operand, if_true: str, if_false: str) -> None:
        self._emit(ins.Branch(self._value(condition, I1), if_true, if_false))

    def switch(self, value: Value, cases: dict[int, str], default: str) -> None:
        self._emit(
            ins.Switch(value, [(number % (1 << value.type.bits), block) for number, block in cases.items()], default)
        )

    def phi(self, type: Type, *incoming: tuple[str, Operand]) -> Register:
        """A value that depends on the block from which control came; `incoming` adds more of them."""
        result = Register("", type)
        self._block().phis.append(Phi(result, [(block, self._value(value, type)) for block, value in incoming]))
        return result

    def incoming(self, phi: Register, block: str, value: Operand) -> None:
        for owner in self.function.blocks.values():
            for candidate in owner.phis:
                if candidate.result is phi:
                    candidate.incoming.append((block, self._value(value, phi.type)))
                    return
        raise ValueError(f"{phi} is not a phi of this function")

    # ---------------------------------------------------------------------------------------------- inside

    def _block(self) -> Block:
        if self._current is None:
            raise ValueError(f"function {self.function.name!r}: nothing can reach this place; start a block first")
        return self._current

    def _start(self, block: Block) -> None:
        if block.name in self.function.blocks:
            raise ValueError(f"function {self.function.name!r} already has a block {block.name!r}")
        self.function.blocks[block.name] = block
        self._current = block
        self._open_if = None

    def _label(self, hint: str) -> str:
        self._labels += 1
        return f"{hint}.{self._labels}"

    def _emit(self, instruction: Instruction) -> None:
        instruction.location = self._location
        block = self._block()
        block.instructions.append(instruction)
        self._open_if = None
        if isinstance(instruction, ins.Terminator):
            self._targets.update(successors(block))
            self._current = None

    def _define(self, type: Type, instruction: Instruction, name: str = "") -> Register:
        result = Register(name, type)
        instruction.result = result
        self._emit(instruction)
        return result

    def _address(self, instruction: Instruction, pointee: Type | None, name: str = "") -> Register:
        result = self._define(PTR, instruction, name)
        if pointee is not None:
            self._pointees[result] = pointee
        return result

    def _guarded(self, guard: Guard | None, access: Callable[[], Register]) -> Register:
        if guard is None:
            return access()
        with self.atomic():
            old = access()
            self.assume(guard(old))
        return old

    def _value(self, operand: Operand, type: Type | None) -> Value:
        """An operand as a value; the type is for numbers."""
        if not isinstance(operand, int | float):
            return operand
        if type is None:
            raise ValueError(f"nothing tells the type of {operand}: use a Constant")
        if isinstance(type, Float):
            return Constant(type, float(operand))
        if isinstance(operand, float):
            raise ValueError(f"{operand} is not of type {type}")
        return Constant(type, int(operand) % (1 << type.bits))

    def _pair(self, left: Operand, right: Operand) -> tuple[Value, Value]:
        """Two operands of one type: a number takes that of the other."""
        if not isinstance(left, int | float):
            return left, self._value(right, left.type)
        if not isinstance(right, int | float):
            return self._value(left, right.type), right
        raise ValueError(f"nothing tells the type of {left} and {right}: use a Constant")

    def _pointee(self, address: Value) -> Type | None:
        if isinstance(address, GlobalAddress):
            return self._program.types.get(address.name)
        return self._pointees.get(address) if isinstance(address, Register) else None

    def _type_at(self, address: Value, type: Type | None) -> Type:
        type = type or self._pointee(address)
        if type is None:
            raise ValueError("nothing tells the type of what is at this address: give one")
        return type

    def _value_at(self, address: Value, operand: Operand, type: Type | None) -> Value:
        """A value that is meant for an address."""
        return self._value(operand, type or self._pointee(address)) if isinstance(operand, int | float) else operand

    def _arguments(self, function: Value, arguments: Sequence[Operand]) -> list[Value]:
        known = self._program.program.functions.get(function.name) if isinstance(function, FunctionAddress) else None
        types: list[Type | None] = [parameter.type for parameter in known.parameters] if known else []
        types += [None] * (len(arguments) - len(types))
        return [self._value(argument, type) for argument, type in zip(arguments, types, strict=False)]


def _encode(type: Type, value: int | float) -> bytes:
    """A number as it stands in memory."""
    if isinstance(type, Float):
        return struct.pack("<f" if type.bits == 32 else "<d", value)
    if not isinstance(value, int):
        raise ValueError(f"{value} is not of type {type}")
    return (value % (1 << type.bits)).to_bytes(type.size, "little")
