"""Is a program well-formed? Everything behind the front ends relies on what is checked here.

Unreachable blocks are allowed, and in them any register of the function may be used, as in LLVM. That atomic
sections are properly nested is not checked: they may begin in one function and end in another.
"""

from __future__ import annotations

from typing import get_args

from mazurka.errors import MazurkaError
from mazurka.program import instructions as ins
from mazurka.program.cfg import Dominators, dominators, predecessors, successors
from mazurka.program.instructions import Constant, FunctionAddress, GlobalAddress, Instruction, Phi, Register, Value
from mazurka.program.operands import definitions, operands
from mazurka.program.printer import format_instruction, format_phi, register_names
from mazurka.program.program import Block, DebugType, Function, GlobalVariable, Program
from mazurka.program.types import I1, I8, I32, I64, PTR, Float, Int, Pointer, Type

POINTER_SIZE = 8

BINARY = frozenset(get_args(ins.BinaryOp))
FLOAT_BINARY = frozenset(op for op in BINARY if op.startswith("f"))
PREDICATES = frozenset(get_args(ins.Predicate))
CONVERSIONS = frozenset(get_args(ins.ConvertOp))
UNARY = frozenset(get_args(ins.UnaryOp))
UPDATES = frozenset(get_args(ins.UpdateOp))
ORDERINGS = frozenset(get_args(ins.Ordering))
READING_ORDERINGS = frozenset({"relaxed", "acquire", "seq_cst"})
FENCES = frozenset({"acquire", "release", "acq_rel", "seq_cst"})
FAILURES = frozenset(get_args(ins.FailureKind))
ORIGINS = frozenset(get_args(ins.AssumeOrigin))
CLAIMS = frozenset(get_args(ins.ClaimKind))


class InvalidProgram(MazurkaError):
    """A program breaks a rule of the representation. The message names the function, the block, the instruction."""


def validate(program: Program) -> None:
    """Raise `InvalidProgram` at the first broken rule."""
    entry = program.functions.get(program.entry)
    if entry is None:
        raise InvalidProgram(f"there is no function {program.entry!r} to start with")
    if entry.parameters:
        raise InvalidProgram(f"function {program.entry!r} starts the program, so it cannot have parameters")
    for key, type in program.debug_types.items():
        _check_debug_type(program, key, type)
    for key, variable in program.globals.items():
        _check_global(program, key, variable)
    for key, function in program.functions.items():
        _check_function(program, key, function)


class _Problem(Exception):
    """What is wrong; whoever knows where adds that."""


# ----------------------------------------------------------------------------------------- globals, debug types


def _check_debug_type(program: Program, key: str, type: DebugType) -> None:
    for used in [type.element, *(member.type for member in type.members)]:
        if used is not None and used not in program.debug_types:
            raise InvalidProgram(f"debug type {key!r}: there is no debug type {used!r}")


def _check_global(program: Program, key: str, variable: GlobalVariable) -> None:
    def wrong(problem: str) -> InvalidProgram:
        return InvalidProgram(f"global {key!r}: {problem}")

    if variable.name != key:
        raise wrong(f"is listed under this name but called {variable.name!r}")
    if key in program.functions:
        raise wrong("there is a function of the same name")
    if variable.private and not variable.thread_local:
        raise wrong("only a thread-local variable can be private")
    if variable.debug_type is not None and variable.debug_type not in program.debug_types:
        raise wrong(f"there is no debug type {variable.debug_type!r}")
    end = 0
    for relocation in sorted(variable.relocations, key=lambda relocation: relocation.offset):
        if relocation.offset < 0 or relocation.offset + POINTER_SIZE > len(variable.data):
            raise wrong(f"relocation at offset {relocation.offset} is outside of its {len(variable.data)} bytes")
        if relocation.offset < end:
            raise wrong(f"relocation at offset {relocation.offset} overlaps the one before")
        end = relocation.offset + POINTER_SIZE
        target = program.globals.get(relocation.target)
        if target is None and relocation.target not in program.functions:
            raise wrong(f"relocation to {relocation.target!r}, which is neither a global nor a function")
        if target is not None and target.thread_local:
            raise wrong(f"relocation to {relocation.target!r}, which is thread-local and has no single address")


# -------------------------------------------------------------------------------------------------- functions


def _check_function(program: Program, key: str, function: Function) -> None:
    def wrong(problem: object, block: Block | None = None, item: Instruction | Phi | None = None) -> InvalidProgram:
        where = f"function {key!r}"
        if block is not None:
            where += f", block {block.name!r}"
        if item is not None:
            names = register_names(function)
            text = format_phi(item, names) if isinstance(item, Phi) else format_instruction(item, names)
            where += f", `{text}`"
        return InvalidProgram(f"{where}: {problem}")

    if function.name != key:
        raise wrong(f"is listed under this name but called {function.name!r}")
    if not function.blocks:
        raise wrong("has no blocks")

    # The shape first: what follows needs a control-flow graph.
    for name, block in function.blocks.items():
        if block.name != name:
            raise wrong(f"is listed as {name!r}", block)
        if not block.instructions or not isinstance(block.instructions[-1], ins.Terminator):
            raise wrong("does not end with a terminator", block)
        for instruction in block.instructions[:-1]:
            if isinstance(instruction, ins.Terminator):
                raise wrong("a terminator that is not the last instruction of its block", block, instruction)
        for target in successors(block):
            if target not in function.blocks:
                raise wrong(f"there is no block {target!r}", block, block.terminator)
    sources = predecessors(function)
    entry = function.entry
    if sources[entry.name]:
        raise wrong(f"is the entry, but block {sources[entry.name][0]!r} goes to it", entry)

    try:
        if function.returns is not None:
            _check_type(function.returns)
        defined_in = _definitions(function)
    except _Problem as problem:
        raise wrong(problem) from None

    scope = _Scope(program, function, defined_in, dominators(function))
    for block in function.blocks.values():
        scope.enter(block)
        for phi in block.phis:
            try:
                scope.check_phi(phi, sources[block.name])
            except _Problem as problem:
                raise wrong(problem, block, phi) from None
        for instruction in block.instructions:
            try:
                scope.check_operands(instruction)
                _check_instruction(program, function, instruction)
                scope.define(instruction)
            except _Problem as problem:
                raise wrong(problem, block, instruction) from None


def _definitions(function: Function) -> dict[Register, str | None]:
    """The block in which each register is defined; None for parameters."""
    defined_in: dict[Register, str | None] = {}

    def define(register: Register, block: str | None) -> None:
        if register in defined_in:
            raise _Problem(f"register {register_names(function)[register]} is defined more than once")
        defined_in[register] = block

    for parameter in function.parameters:
        _check_type(parameter.type)
        define(parameter, None)
    for block in function.blocks.values():
        for phi in block.phis:
            define(phi.result, block.name)
        for instruction in block.instructions:
            for register in definitions(instruction):
                define(register, block.name)
    return defined_in


class _Scope:
    """Which registers may be used at the place that is being checked."""

    def __init__(
        self, program: Program, function: Function, defined_in: dict[Register, str | None], tree: Dominators
    ) -> None:
        self.program = program
        self.function = function
        self.defined_in = defined_in
        self.tree = tree
        self.block = function.entry
        self.here: set[Register] = set()  # the registers of this block that are defined by now

    def enter(self, block: Block) -> None:
        self.block = block
        self.here = {phi.result for phi in block.phis}

    def define(self, instruction: Instruction) -> None:
        for register in definitions(instruction):
            _check_type(register.type)
            self.here.add(register)

    def check_operands(self, instruction: Instruction) -> None:
        for value in operands(instruction):
            if isinstance(value, Register):
                if value not in self.here and not self._available(value, self.block.name, at_end=False):
                    raise _Problem(f"{self._show(value)} is used where it need not have been computed before")
            else:
                _check_literal(self.program, value)

    def check_phi(self, phi: Phi, sources: list[str]) -> None:
        if self.block is self.function.entry:
            raise _Problem("the entry has no predecessors, so it cannot have phis")
        _check_type(phi.result.type)
        given: set[str] = set()
        for name, _ in phi.incoming:
            if name in given:
                raise _Problem(f"several values for predecessor {name!r}")
            given.add(name)
        if strangers := given.difference(sources):
            raise _Problem(f"block {min(strangers)!r} is not a predecessor")
        if missing := set(sources).difference(given):
            raise _Problem(f"no value for predecessor {min(missing)!r}")
        for name, value in phi.incoming:
            _expect(f"the value from {name!r}", value, phi.result.type)
            if not isinstance(value, Register):
                _check_literal(self.program, value)
            elif not self._available(value, name, at_end=True):
                raise _Problem(f"{self._show(value)} need not have been computed by the end of block {name!r}")

    def _available(self, register: Register, block: str, at_end: bool) -> bool:
        if register not in self.defined_in:
            raise _Problem(f"{register} is not defined in this function")
        home = self.defined_in[register]
        if home is None or block not in self.tree.spans:
            return True  # a parameter, or code that never runs
        if home == block:
            return at_end
        return home in self.tree.spans and self.tree.dominates(home, block)

    def _show(self, register: Register) -> str:
        return register_names(self.function)[register]


# ------------------------------------------------------------------------------------------- types and operands


def _check_type(type: Type) -> None:
    if isinstance(type, Int) and not 1 <= type.bits <= 64:
        raise _Problem(f"{type} is not an integer type of 1 to 64 bits")
    if isinstance(type, Float) and type.bits not in (32, 64):
        raise _Problem(f"{type} is not a floating-point type of 32 or 64 bits")


def _check_literal(program: Program, value: Constant | GlobalAddress | FunctionAddress) -> None:
    if isinstance(value, Constant):
        _check_type(value.type)
        if isinstance(value.type, Float):
            if isinstance(value.value, bool):
                raise _Problem(f"the constant {value.value} is not a number of type {value.type}")
        elif not isinstance(value.value, int) or not 0 <= value.value < 1 << value.type.bits:
            raise _Problem(f"the constant {value.value} does not fit {value.type} (stored modulo 2**{value.type.bits})")
    elif isinstance(value, GlobalAddress):
        variable = program.globals.get(value.name)
        if variable is None:
            raise _Problem(f"there is no global {value.name!r}")
        if variable.thread_local:
            raise _Problem(f"global {value.name!r} is thread-local: its address needs a ThreadLocalAddress")
    elif value.name not in program.functions:
        raise _Problem(f"there is no function {value.name!r}")


def _expect(role: str, value: Value, type: Type) -> None:
    if value.type is not type and value.type != type:
        raise _Problem(f"{role} is of type {value.type}, not {type}")


def _expect_integer(role: str, type: Type) -> None:
    if not isinstance(type, Int | Pointer):
        raise _Problem(f"{role} is of type {type}, which is not an integer")


def _expect_float(role: str, type: Type) -> None:
    if not isinstance(type, Float):
        raise _Problem(f"{role} is of type {type}, which is not floating-point")


def _expect_operation(operation: str, known: frozenset[str]) -> None:
    if operation not in known:
        raise _Problem(f"{operation!r} is not one of {', '.join(sorted(known))}")


def _result(instruction: Instruction, type: Type) -> None:
    _expect("the result", _some_result(instruction), type)


def _some_result(instruction: Instruction) -> Register:
    if instruction.result is None:
        raise _Problem("has no result")
    return instruction.result


def _no_result(instruction: Instruction) -> None:
    if instruction.result is not None:
        raise _Problem("cannot have a result")


# ------------------------------------------------------------------------------------------------ instructions


def _check_instruction(program: Program, function: Function, instruction: Instruction) -> None:
    match instruction:
        case ins.Load() | ins.Store() | ins.Update() | ins.CompareExchange():
            _check_access(instruction)
        case ins.Binary(op, left, right, checked):
            _expect_operation(op, BINARY)
            if checked and op not in ins.CHECKABLE:
                raise _Problem(f"'{op}' cannot be checked")
            _expect("the right operand", right, left.type)
            (_expect_float if op in FLOAT_BINARY else _expect_integer)("the left operand", left.type)
            _result(instruction, left.type)
        case ins.Compare(predicate, left, right):
            _expect_operation(predicate, PREDICATES)
            _expect("the right operand", right, left.type)
            (_expect_float if predicate.startswith("f") else _expect_integer)("the left operand", left.type)
            _result(instruction, I1)
        case ins.Convert():
            _check_conversion(instruction)
        case ins.Offset(base, index, scale, displacement):
            _expect("the base", base, PTR)
            _expect("the index", index, I64)
            for name, number in ("scale", scale), ("displacement", displacement):
                if not -(1 << 63) <= number < 1 << 63:
                    raise _Problem(f"the {name} {number} does not fit 64 bits")
            if instruction.limit is not None and not 0 < instruction.limit < 1 << 31:
                raise _Problem(f"the limit {instruction.limit} is not a number of elements")
            _result(instruction, PTR)
        case ins.Select(condition, if_true, if_false):
            _expect("the condition", condition, I1)
            _expect("the value if false", if_false, if_true.type)
            _result(instruction, if_true.type)
        case ins.Unary(op, value):
            _expect_operation(op, UNARY)
            if op.startswith("f"):
                _expect_float("the operand", value.type)
            elif op != "defined" and not isinstance(value.type, Int):
                raise _Problem(f"the operand is of type {value.type}, which is not an integer")
            if op == "bswap" and value.type.bits % 16:
                raise _Problem(f"the operand is of type {value.type}, which has no even number of bytes")
            _result(instruction, value.type)
        case ins.MultiplyAdd(left, right, addend):
            _expect_float("the left operand", left.type)
            _expect("the right operand", right, left.type)
            _expect("the addend", addend, left.type)
            _result(instruction, left.type)
        case ins.AnyOfSign(sign):
            _expect("the sign", sign, I32)
            _result(instruction, I32)
        case ins.Landing(number):
            if not 0 <= number < 1 << 31:
                raise _Problem(f"{number} is not the number of a landing")
            _result(instruction, I32)
        case ins.StackAlloc(size, debug_type=debug_type):
            _expect("the size", size, I64)
            if isinstance(size, Constant) and size.undefined:
                raise _Problem("the size is undefined")
            if debug_type is not None and debug_type not in program.debug_types:
                raise _Problem(f"there is no debug type {debug_type!r}")
            _result(instruction, PTR)
        case ins.HeapAlloc(size):
            _expect("the size", size, I64)
            _result(instruction, PTR)
        case ins.Free(address):
            _expect("the address", address, PTR)
            _no_result(instruction)
        case ins.BlockSize(address):
            _expect("the address", address, PTR)
            _result(instruction, I64)
        case ins.ThreadLocalAddress(name):
            variable = program.globals.get(name)
            if variable is None:
                raise _Problem(f"there is no global {name!r}")
            if not variable.thread_local:
                raise _Problem(f"global {name!r} is not thread-local")
            _result(instruction, PTR)
        case ins.Call(callee, arguments):
            if isinstance(callee, str):
                called = program.functions.get(callee)
                if called is None:
                    raise _Problem(f"there is no function {callee!r}")
                _check_arguments(called, arguments)
                if instruction.result is not None:
                    if called.returns is None:
                        raise _Problem(f"cannot have a result: function {callee!r} returns nothing")
                    _result(instruction, called.returns)
            else:
                _expect("the callee", callee, PTR)
        case ins.Spawn(started, arguments):
            _expect("the function", started, PTR)
            if isinstance(started, FunctionAddress):
                _check_arguments(program.functions[started.name], arguments)
            _result(instruction, PTR)
        case ins.Self():
            _result(instruction, PTR)
        case ins.Choose(count):
            _expect("the count", count, I32)
            _result(instruction, I32)
        case ins.Assume(condition, origin):
            _expect_operation(origin, ORIGINS)
            _expect("the condition", condition, I1)
            _no_result(instruction)
        case ins.Await(condition, what, object, holder):
            _expect("the condition", condition, I1)
            if not what:
                raise _Problem("does not say what it waits for")
            _expect("the object", object, PTR)
            _expect("the holder", holder, PTR)
            _no_result(instruction)
        case ins.Claim(lock, kind):
            _expect("the lock", lock, PTR)
            _expect_operation(kind, CLAIMS)
            _no_result(instruction)
        case ins.AtomicBegin() | ins.AtomicEnd() | ins.Relax():
            _no_result(instruction)
        case ins.Fence(ordering):
            _expect_operation(ordering, FENCES)
            _no_result(instruction)
        case ins.Output(byte):
            _expect("the byte", byte, I8)
            _no_result(instruction)
        case ins.Terminator():
            _check_terminator(function, instruction)
        case _:
            raise _Problem(f"{type(instruction).__name__} is not a kind of instruction")


def _check_access(access: ins.MemoryAccess) -> None:
    _expect("the address", access.address, PTR)
    _expect_operation(access.ordering, ORDERINGS)
    if access.align < 1 or access.align & (access.align - 1):
        raise _Problem(f"the alignment {access.align} is not a power of two")
    if access.align >= 1 << PTR.bits:
        raise _Problem(f"the alignment {access.align} is more than there are addresses")
    match access:
        case ins.Load():
            _some_result(access)
        case ins.Store():
            _no_result(access)
        case ins.Update(op, _, value):
            _expect_operation(op, UPDATES)
            if op != "exchange":
                _expect_integer("the value", value.type)
            if access.result is not None:
                _result(access, value.type)
        case ins.CompareExchange(_, expected, desired, success):
            _expect_integer("the expected value", expected.type)
            _expect("the desired value", desired, expected.type)
            if access.ordering != "plain":
                _expect_operation(access.failure_ordering, READING_ORDERINGS)
            if access.result is not None:
                _result(access, expected.type)
            if success is not None:
                _expect("the success", success, I1)


def _check_conversion(instruction: ins.Convert) -> None:
    op, source, target = instruction.op, instruction.value.type, _some_result(instruction).type
    _expect_operation(op, CONVERSIONS)
    if op in ("sitofp", "uitofp", "zext", "sext", "trunc"):
        _expect_integer("the operand", source)
    elif op != "bitcast":
        _expect_float("the operand", source)
    if op in ("fptosi", "fptoui", "zext", "sext", "trunc"):
        _expect_integer("the result", target)
    elif op != "bitcast":
        _expect_float("the result", target)
    if op in ("zext", "sext", "fpext") and target.bits <= source.bits:
        raise _Problem(f"{target} is not wider than {source}")
    if op in ("trunc", "fptrunc") and target.bits >= source.bits:
        raise _Problem(f"{target} is not narrower than {source}")
    if op == "bitcast" and target.bits != source.bits:
        raise _Problem(f"{source} and {target} have different sizes")


def _check_arguments(called: Function, arguments: list[Value]) -> None:
    if len(arguments) != len(called.parameters):
        raise _Problem(f"function {called.name!r} takes {len(called.parameters)} arguments, not {len(arguments)}")
    for number, (parameter, argument) in enumerate(zip(called.parameters, arguments, strict=True), 1):
        _expect(f"argument {number}", argument, parameter.type)


def _check_terminator(function: Function, terminator: ins.Terminator) -> None:
    _no_result(terminator)
    match terminator:
        case ins.Branch(condition):
            _expect("the condition", condition, I1)
        case ins.Switch(value, cases):
            if not isinstance(value.type, Int):
                raise _Problem(f"the value is of type {value.type}, which is not an integer")
            seen: set[int] = set()
            for number, _ in cases:
                if not 0 <= number < 1 << value.type.bits:
                    raise _Problem(f"case {number} does not fit {value.type} (stored modulo 2**{value.type.bits})")
                if number in seen:
                    raise _Problem(f"case {number} occurs twice")
                seen.add(number)
        case ins.Return(value):
            if value is None and function.returns is not None:
                raise _Problem(f"returns nothing, but the function returns {function.returns}")
            if value is not None:
                if function.returns is None:
                    raise _Problem("returns a value, but the function returns nothing")
                _expect("the value", value, function.returns)
        case ins.Exit(status):
            _expect("the status", status, I32)
        case ins.EndThread(status) if status is not None:
            _expect("the status", status, I32)
        case ins.LongJump(object, landing, value):
            _expect("the object", object, PTR)
            _expect("the landing", landing, I64)
            _expect("the value", value, I32)
        case ins.Fail(kind, _, details, cause):
            _expect_operation(kind, FAILURES)
            for what, value in (("the text", details), ("the cause", cause)):
                if value is not None:
                    _expect(what, value, PTR)
        case ins.Jump() | ins.EndThread() | ins.Unreachable():
            pass
        case _:
            raise _Problem(f"{type(terminator).__name__} is not a kind of terminator")
