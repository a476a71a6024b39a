"""Building, printing and validating programs; their control-flow graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mazurka.program.builder import ProgramBuilder
from mazurka.program.cfg import (
    dominance_frontiers,
    dominators,
    innermost_loop,
    natural_loops,
    predecessors,
    reverse_postorder,
    successors,
)
from mazurka.program.instructions import (
    AnyOfSign,
    Assume,
    AtomicBegin,
    Await,
    Binary,
    BlockSize,
    Branch,
    Call,
    Choose,
    Claim,
    Compare,
    CompareExchange,
    Constant,
    Convert,
    Exit,
    Fail,
    Fence,
    Free,
    FunctionAddress,
    GlobalAddress,
    HeapAlloc,
    Instruction,
    Jump,
    Landing,
    Load,
    Location,
    LongJump,
    MultiplyAdd,
    Offset,
    Output,
    Phi,
    Register,
    Return,
    Select,
    Self,
    Spawn,
    StackAlloc,
    Store,
    Switch,
    Terminator,
    ThreadLocalAddress,
    Unary,
    Update,
    Value,
)
from mazurka.program.operands import OPERAND_FIELDS, definitions, operands, replace_operands
from mazurka.program.printer import format_function, format_instruction, format_program
from mazurka.program.program import Block, DebugType, Function, GlobalVariable, Member, Program, Relocation
from mazurka.program.types import F32, F64, I1, I8, I16, I32, I64, PTR, Float, Int, Type
from mazurka.program.validate import InvalidProgram, validate

ONE = Constant(I32, 1)
HALF = Constant(F64, 0.5)
TRUE = Constant(I1, 1)
NULL = Constant(PTR)
EIGHT = Constant(I64, 8)


# ---------------------------------------------------------------------------------------------------- operands


def test_every_field_that_can_hold_a_value_is_an_operand() -> None:
    shapes = {"Value", "Value | None", "str | Value", "list[Value]"}
    for kind, names in OPERAND_FIELDS.items():
        assert {str(field.type) for field in fields(kind) if field.name in names} <= shapes
    assert OPERAND_FIELDS[CompareExchange] == ("address", "expected", "desired")
    assert OPERAND_FIELDS[Call] == ("callee", "arguments")
    assert OPERAND_FIELDS[Return] == ("value",)
    assert OPERAND_FIELDS[AtomicBegin] == ()


def test_operands_and_definitions() -> None:
    a, b, old, ok = Register("a", PTR), Register("b", I32), Register("old", I32), Register("ok", I1)
    exchange = CompareExchange(a, b, ONE, ok, result=old)
    assert operands(exchange) == [a, b, ONE]
    assert definitions(exchange) == [old, ok]
    assert definitions(Store(b, a)) == []
    assert operands(Call("f", [b, ONE])) == [b, ONE]
    assert operands(Call(a, [b])) == [a, b]
    assert operands(Return()) == []


def test_replacing_operands() -> None:
    a, b, c = Register("a", PTR), Register("b", I32), Register("c", I32)
    call = Call(a, [b, c, b])
    replace_operands(call, {b: ONE, a: FunctionAddress("f")})
    assert call.callee == FunctionAddress("f")
    assert call.arguments == [ONE, c, ONE]


# ------------------------------------------------------------------------------------------------------ builder


def body(build: Callable[[ProgramBuilder], None]) -> str:
    """The text of the function "main" of a program that `build` writes, validated."""
    p = ProgramBuilder()
    build(p)
    return format_function(p.build().functions["main"])


def test_a_program_reads_as_it_was_written() -> None:
    p = ProgramBuilder()
    x = p.variable("x", I32, 5)
    with p.function("worker", I32) as f:
        (amount,) = f.parameters
        f.at("example.c", 3)
        f.store(x, f.add(f.load(x), amount))
    with p.function("main") as f:
        thread = f.spawn("worker", -1)
        f.update("add", x, 1, used=False)
        f.join(thread)
        f.check(f.eq(f.load(x), 5), "an update was lost")
    assert format_program(p.build()) == (
        """entry main

global @x = 05000000

function worker(%1: i32) {
entry:
    %2 = load i32 @x                                    ; example.c:3
    %3 = add i32 %2, %1                                 ; example.c:3
    store i32 %3, @x                                    ; example.c:3
    return                                              ; example.c:3
}

function main() {
entry:
    %1 = spawn &worker(i32 -1)
    update add @x, i32 1, seq_cst
    %2 = offset %1 + 0 * 1
    atomic begin
        %3 = load i32 %2, acquire
        %4 = ne i32 %3, 0
        await %4, "thread" at %1 held by %1
    atomic end
    %5 = load i32 @x
    %6 = eq i32 %5, 5
    branch %6, ok.1, failed.2
failed.2:
    fail assertion "an update was lost"
ok.1:
    return
}
"""
    )


def test_lock_and_unlock_are_sections() -> None:
    def build(p: ProgramBuilder) -> None:
        mutex = p.mutex("m")
        with p.function("main") as f:
            f.lock(mutex)
            f.unlock(mutex)

    assert (
        body(build)
        == """function main() {
entry:
    atomic begin
        %1 = load ptr @m, acquire
        claim acquire @m
        %2 = eq ptr %1, null
        await %2, "mutex" at @m held by %1
        %3 = self
        store ptr %3, @m, release
    atomic end
    atomic begin
        %4 = load ptr @m, acquire
        %5 = self
        %6 = eq ptr %4, %5
        branch %6, ok.1, failed.2
failed.2:
        fail sync "unlock of a mutex that this thread does not hold"
ok.1:
        claim release @m
        store ptr null, @m, release
    atomic end
    return
}
"""
    )


def test_trylock_is_one_access() -> None:
    def build(p: ProgramBuilder) -> None:
        mutex = p.mutex("m")
        with p.function("main") as f, f.if_(f.trylock(mutex)):
            f.unlock(mutex)

    assert "%2, %3 = compare_exchange @m, ptr null, %1, seq_cst\n    branch %3, then.1, end.2" in body(build)


def test_guarded_accesses() -> None:
    def build(p: ProgramBuilder) -> None:
        x = p.variable("x")
        with p.function("main") as f:
            f.load(x, guard=lambda old: f.eq(old, 1))
            f.update("exchange", x, 2, guard=lambda old: f.ne(old, 2))
            f.compare_exchange(x, 2, 3, guard=lambda old: f.sgt(old, 0))

    assert (
        body(build)
        == """function main() {
entry:
    atomic begin
        %1 = load i32 @x
        %2 = eq i32 %1, 1
        assume %2
    atomic end
    atomic begin
        %3 = update exchange @x, i32 2, seq_cst
        %4 = ne i32 %3, 2
        assume %4
    atomic end
    atomic begin
        %5, %6 = compare_exchange @x, i32 2, 3, seq_cst
        %7 = sgt i32 %5, 0
        assume %7
    atomic end
    return
}
"""
    )


def test_a_guard_needs_the_old_value() -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("main") as f, pytest.raises(ValueError, match="a guard uses the old value"):
        f.update("add", x, 1, used=False, guard=lambda old: f.eq(old, 0))


def test_if_and_else() -> None:
    def build(p: ProgramBuilder) -> None:
        x = p.variable("x")
        with p.function("main") as f:
            condition = f.eq(f.load(x), 0)
            with f.if_(condition):
                left = f.here
            with f.else_():
                more = f.add(1, f.load(x))
                right = f.here
            f.store(x, f.phi(I32, (left, 7), (right, more)))

    assert (
        body(build)
        == """function main() {
entry:
    %1 = load i32 @x
    %2 = eq i32 %1, 0
    branch %2, then.1, else.3
then.1:
    jump end.2
else.3:
    %3 = load i32 @x
    %4 = add i32 1, %3
    jump end.2
end.2:
    %5 = phi i32 [then.1: 7, else.3: %4]
    store i32 %5, @x
    return
}
"""
    )


def test_branches_that_both_end_have_no_end_in_common() -> None:
    p = ProgramBuilder()
    with p.function("main") as f:
        with f.if_(f.eq(f.choose(2), 0)):
            f.exit(1)
        with f.else_():
            f.end_thread()
        with pytest.raises(ValueError, match="'main': nothing can reach this place"):
            f.self()
    assert list(p.build().functions["main"].blocks) == ["entry", "then.1", "else.3"]


def test_an_else_needs_its_if() -> None:
    p = ProgramBuilder()
    with p.function("main") as f:
        with f.if_(1):
            f.self()
        f.self()
        with pytest.raises(ValueError, match="directly follow"), f.else_():
            pass


def test_loops() -> None:
    def build(p: ProgramBuilder) -> None:
        x = p.variable("x")
        with p.function("main") as f:
            with f.while_(lambda: f.slt(f.load(x), 3)):
                with f.if_(f.eq(f.load(x), 1)):
                    f.continue_()
                f.break_()
            with f.repeat(2) as index:
                f.store(x, index)
            with f.loop():
                f.store(x, 1)

    assert (
        body(build)
        == """function main() {
entry:
    jump loop.1
loop.1:
    %1 = load i32 @x
    %2 = slt i32 %1, 3
    branch %2, body.3, end.2
body.3:
    %3 = load i32 @x
    %4 = eq i32 %3, 1
    branch %4, then.4, end.5
then.4:
    jump loop.1
end.5:
    jump end.2
end.2:
    jump loop.6
loop.6:
    %5 = phi i32 [end.2: 0, next.8: %7]
    %6 = slt i32 %5, 2
    branch %6, body.7, end.9
body.7:
    store i32 %5, @x
    jump next.8
next.8:
    %7 = add i32 %5, 1
    jump loop.6
end.9:
    jump loop.10
loop.10:
    store i32 1, @x
    jump loop.10
}
"""
    )


def test_blocks_by_hand() -> None:
    def build(p: ProgramBuilder) -> None:
        with p.function("main") as f:
            f.jump("top")
            f.block("top")
            count = f.phi(I8, ("entry", 0))
            more = f.add(count, 1)
            f.incoming(count, f.here, more)
            f.switch(more, {-1: "out", 3: "three"}, "top")
            f.block("three")
            f.branch(f.eq(more, 3), "out", "end")
            f.block("out")
            f.block("end")
            f.unreachable()

    assert (
        body(build)
        == """function main() {
entry:
    jump top
top:
    %1 = phi i8 [entry: 0, top: %2]
    %2 = add i8 %1, 1
    switch i8 %2, 255: out, 3: three, default: top
three:
    %3 = eq i8 %2, 3
    branch %3, out, end
out:
    jump end
end:
    unreachable
}
"""
    )


def test_memory_calls_and_the_rest() -> None:
    def build(p: ProgramBuilder) -> None:
        table = p.array("table", I16, [1, -1])
        p.data("raw", bytes(16), [Relocation(8, "table", 2)], constant=True)
        mine = p.thread_local("mine", I64, 3)
        p.variable("half", F32, 0.5)
        with p.function("twice", F64, returns=F64) as f:
            (number,) = f.parameters
            f.ret(f.binary("fmul", number, 2))
        with p.function("main") as f:
            block = f.malloc(8, I32, zeroed=True)
            f.store(f.offset(block, displacement=4), 1)
            f.free(block)
            f.free(0)
            f.block_size(block)
            f.load(f.element(table, 1))
            f.store(f.thread_local(mine), 4)
            f.store(f.stack_alloc(4), 4, I8, ordering="release", align=4)
            f.local("number", I32, 3)
            wide = f.convert("sext", f.choose(3), I64)
            f.select(f.not_(f.compare("ult", wide, 2)), f.unary("ctpop", wide), -1)
            f.call("twice", 0.5)
            f.call(FunctionAddress("twice"), f.call("twice", 1, returns=F64), returns=F64)
            with f.atomic():
                f.assume(1)
            f.atomic_begin()
            f.atomic_end()
            f.print("é")
            f.exit(3)

    assert (
        body(build)
        == """function main() {
entry:
    %1 = heap_alloc 8, zeroed
    %2 = offset %1 + 0 * 1 + 4
    store i32 1, %2
    free %1
    free null
    %3 = block_size %1
    %4 = offset @table + 1 * 2
    %5 = load i16 %4
    %6 = thread_local @mine
    store i64 4, %6
    %7 = stack_alloc 4
    store i8 4, %7, release, align 4
    %number = stack_alloc 4, "number"
    store i32 3, %number
    %8 = choose 3
    %9 = sext i32 %8 to i64
    %10 = ult i64 %9, 2
    %11 = xor i1 %10, 1
    %12 = ctpop i64 %9
    %13 = select %11, i64 %12, -1
    call twice(f64 0.5)
    %14 = call f64 twice(f64 1.0)
    %15 = call f64 *&twice(f64 %14)
    atomic begin
        assume 1
    atomic end
    atomic begin
    atomic end
    output -61
    output -87
    exit 3
}
"""
    )


def test_numbers_need_a_type_from_somewhere() -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("main") as f:
        for attempt in (
            lambda: f.add(1, 2),
            lambda: f.load(f.malloc(4)),
            lambda: f.store(f.malloc(4), 1),
            lambda: f.call("later", 1),
            lambda: f.ret(1),
        ):
            with pytest.raises(ValueError, match="nothing tells the type"):
                attempt()
        with pytest.raises(ValueError, match=r"0\.5 is not of type i32"):
            f.store(x, 0.5)
    with pytest.raises(ValueError, match=r"0\.5 is not of type i32"):
        p.variable("y", I32, 0.5)


def test_names_are_taken_once() -> None:
    p = ProgramBuilder()
    p.variable("x")
    with pytest.raises(ValueError, match="already is a global 'x'"):
        p.variable("x")
    with p.function("main") as f:
        f.block("b")
        with pytest.raises(ValueError, match="already has a block 'b'"):
            f.block("b")
        with pytest.raises(ValueError, match="not a phi"):
            f.incoming(Register("", I32), "b", 1)
        f.block("c")
    with pytest.raises(ValueError, match="already is a function 'main'"):
        p.function("main")


# ------------------------------------------------------------------------------------------------------ printer


def test_registers_are_named_apart() -> None:
    a, same, number, nameless = (Register(name, I32) for name in ("a", "a", "1", ""))
    function = Function("f", [number, a, same, nameless, Register("b c", I32), Register("a.1", I32)])
    function.blocks["entry"] = Block("entry", instructions=[Return()])
    assert format_function(function).startswith(
        'function f(%1: i32, %a: i32, %a.1: i32, %2: i32, %"b c": i32, %a.1.1: i32) {'
    )


def test_globals_and_headers_are_printed_in_full() -> None:
    place = Location("a.c", 3, 7)
    program = Program(
        functions={"main": Function("main", returns=I32, location=place, library=True)},
        globals={
            "x": GlobalVariable("x", bytes(range(12)), constant=True, display="x", debug_type="int", location=place),
            "odd name": GlobalVariable(
                "odd name", bytes(16), [Relocation(0, "x", 4), Relocation(8, "main")], thread_local=True, private=True
            ),
        },
    )
    program.functions["main"].blocks["entry"] = Block("entry", instructions=[Return(ONE, location=place)])
    assert (
        format_program(program)
        == """entry main

constant global @x = 0001020304050607 08090a0b, shown as "x", a int  ; a.c:3:7
thread_local private global @"odd name" = 16 zeros, at 0: @x + 4, at 8: @main

library function main() -> i32 {                        ; a.c:3:7
entry:
    return i32 1                                        ; a.c:3:7
}
"""
    )


@pytest.mark.parametrize(
    ("instruction", "text"),
    [
        (Load(GlobalAddress("x", -4)), "load ? @x-4"),
        (Store(Constant(PTR, 255), NULL), "store ptr 0xff, null"),
        (Store(Constant(I32, undefined=True), NULL), "store i32 undefined, null"),
        (Store(Constant(F32, 2), NULL), "store f32 2.0, null"),
        (CompareExchange(NULL, ONE, ONE, Register("ok", I1)), "_, %ok = compare_exchange null, i32 1, 1, seq_cst"),
        (CompareExchange(NULL, ONE, ONE), "compare_exchange null, i32 1, 1, seq_cst"),
        (StackAlloc(EIGHT, True, "x", "int"), 'stack_alloc 8, private, "x", a int'),
        (Fail("abort", 'a "quoted"\nmessage'), 'fail abort "a \\"quoted\\"\\nmessage"'),
        (MultiplyAdd(HALF, HALF, HALF, result=Register("r", F64)), "%r = fma f64 0.5, 0.5, 0.5"),
        (AnyOfSign(ONE, result=Register("r", I32)), "%r = any_of_sign 1"),
        (Landing(3, result=Register("r", I32)), "%r = landing 3"),
        (LongJump(NULL, EIGHT, ONE), "long_jump null, 8, 1"),
        (Fail("abort", "x", GlobalAddress("text"), NULL), 'fail abort "x" with @text of null'),
        (Return(ONE, thrown=True), "return thrown i32 1"),
        (Instruction(), "Instruction"),
    ],
)
def test_single_instructions(instruction: Instruction, text: str) -> None:
    assert format_instruction(instruction) == text


scalar_types = st.sampled_from(list[Type]([I1, I8, I32, I64, PTR]))
constants = scalar_types.flatmap(
    lambda type: st.builds(Constant, st.just(type), st.integers(0, (1 << type.bits) - 1), st.just(False))
)


@given(constants, constants)
def test_different_constants_look_different(first: Constant, second: Constant) -> None:
    texts = [format_instruction(Return(value)) for value in (first, second)]
    assert (texts[0] == texts[1]) == (first == second)


# ---------------------------------------------------------------------------------------------------- validator


def reject(program: Program, message: str) -> None:
    with pytest.raises(InvalidProgram) as caught:
        validate(program)
    assert str(caught.value) == message


def with_body(*body: Instruction, returns: bool = True) -> Program:
    """A program with a global, a thread-local, a function to call, and a `main` with one block."""
    p = ProgramBuilder()
    p.variable("x")
    p.thread_local("mine")
    with p.function("callee", I32, returns=I32) as f:
        f.ret(f.parameters[0])
    with p.function("nothing"):
        pass
    main = p.function("main").function
    main.blocks["entry"].instructions = [*body, *([Return()] if returns else [])]
    return p.program


def r(type: Type = I32) -> Register:
    return Register("r", type)


W = Constant(I64, 1)  # of a type that is wrong almost everywhere
X = GlobalAddress("x")
HALF = Constant(F64, 0.5)


@pytest.mark.parametrize(
    ("instruction", "text", "problem"),
    [
        # operands
        (Store(Constant(I8, 256), X), None, "the constant 256 does not fit i8 (stored modulo 2**8)"),
        (Store(Constant(I8, -1), X), None, "the constant -1 does not fit i8 (stored modulo 2**8)"),
        (Store(Constant(I8, 0.5), X), None, "the constant 0.5 does not fit i8 (stored modulo 2**8)"),
        (Store(Constant(F32, True), X), None, "the constant True is not a number of type f32"),
        (Store(Constant(Int(65)), X), None, "i65 is not an integer type of 1 to 64 bits"),
        (Store(Constant(Float(16)), X), None, "f16 is not a floating-point type of 32 or 64 bits"),
        (Store(ONE, GlobalAddress("y")), "store i32 1, @y", "there is no global 'y'"),
        (
            Store(ONE, GlobalAddress("mine")),
            "store i32 1, @mine",
            "global 'mine' is thread-local: its address needs a ThreadLocalAddress",
        ),
        (Store(FunctionAddress("f"), X), "store ptr &f, @x", "there is no function 'f'"),
        (Store(Register("q", I32), X), "store i32 %q, @x", "%q is not defined in this function"),
        # arithmetic
        (
            Binary("add", ONE, W, result=r()),
            "%r = add i32 1, 1",
            "the right operand is of type i64, not i32",
        ),
        (Binary("add", HALF, HALF, result=r(F64)), None, "the left operand is of type f64, which is not an integer"),
        (Binary("fadd", ONE, ONE, result=r()), None, "the left operand is of type i32, which is not floating-point"),
        (Binary("add", ONE, ONE, result=r(I64)), None, "the result is of type i64, not i32"),
        (Binary("add", ONE, ONE), "add i32 1, 1", "has no result"),
        (Compare("eq", ONE, W, result=r(I1)), None, "the right operand is of type i64, not i32"),
        (Compare("slt", HALF, HALF, result=r(I1)), None, "the left operand is of type f64, which is not an integer"),
        (Compare("folt", ONE, ONE, result=r(I1)), None, "the left operand is of type i32, which is not floating-point"),
        (Compare("eq", ONE, ONE, result=r()), None, "the result is of type i32, not i1"),
        (Convert("zext", HALF, result=r()), None, "the operand is of type f64, which is not an integer"),
        (Convert("fptosi", ONE, result=r()), None, "the operand is of type i32, which is not floating-point"),
        (Convert("fptosi", HALF, result=r(F32)), None, "the result is of type f32, which is not an integer"),
        (Convert("sitofp", ONE, result=r()), None, "the result is of type i32, which is not floating-point"),
        (Convert("sext", ONE, result=r()), None, "i32 is not wider than i32"),
        (Convert("fpext", HALF, result=r(F32)), None, "f32 is not wider than f64"),
        (Convert("trunc", ONE, result=r(I64)), None, "i64 is not narrower than i32"),
        (Convert("bitcast", ONE, result=r(PTR)), None, "i32 and ptr have different sizes"),
        (Convert("bitcast", ONE), None, "has no result"),
        (Unary("fneg", ONE, result=r()), None, "the operand is of type i32, which is not floating-point"),
        (Unary("ctpop", NULL, result=r(PTR)), None, "the operand is of type ptr, which is not an integer"),
        (Unary("ctpop", ONE, result=r(I64)), None, "the result is of type i64, not i32"),
        (
            Unary("bswap", Constant(I8, 1), result=r(I8)),
            None,
            "the operand is of type i8, which has no even number of bytes",
        ),
        (MultiplyAdd(ONE, ONE, ONE, result=r()), None, "the left operand is of type i32, which is not floating-point"),
        (MultiplyAdd(HALF, HALF, ONE, result=r(F64)), None, "the addend is of type i32, not f64"),
        (AnyOfSign(W, result=r()), None, "the sign is of type i64, not i32"),
        (Landing(-1, result=r()), None, "-1 is not the number of a landing"),
        (Select(ONE, ONE, ONE, result=r()), None, "the condition is of type i32, not i1"),
        (Select(TRUE, ONE, W, result=r()), None, "the value if false is of type i64, not i32"),
        (Select(TRUE, ONE, ONE, result=r(I64)), None, "the result is of type i64, not i32"),
        (Offset(ONE, W, 1, result=r(PTR)), None, "the base is of type i32, not ptr"),
        (Offset(X, ONE, 1, result=r(PTR)), None, "the index is of type i32, not i64"),
        (Offset(X, W, 1 << 63, result=r(PTR)), None, f"the scale {1 << 63} does not fit 64 bits"),
        (Offset(X, W, 1, -(1 << 64), result=r(PTR)), None, f"the displacement {-(1 << 64)} does not fit 64 bits"),
        (Offset(X, W, 1, result=r(I64)), None, "the result is of type i64, not ptr"),
        # memory
        (Load(W, result=r()), None, "the address is of type i64, not ptr"),
        (Load(X, align=3, result=r()), "%r = load i32 @x, align 3", "the alignment 3 is not a power of two"),
        (Load(X, align=0, result=r()), None, "the alignment 0 is not a power of two"),
        (Load(X), None, "has no result"),
        (Store(ONE, W), None, "the address is of type i64, not ptr"),
        (Store(ONE, X, result=r()), None, "cannot have a result"),
        (Update("add", X, HALF), None, "the value is of type f64, which is not an integer"),
        (Update("add", X, ONE, result=r(I64)), None, "the result is of type i64, not i32"),
        (CompareExchange(X, HALF, HALF), None, "the expected value is of type f64, which is not an integer"),
        (CompareExchange(X, ONE, W), None, "the desired value is of type i64, not i32"),
        (CompareExchange(X, ONE, ONE, result=r(I8)), None, "the result is of type i8, not i32"),
        (CompareExchange(X, ONE, ONE, r(I8)), None, "the success is of type i8, not i1"),
        (StackAlloc(ONE, result=r(PTR)), None, "the size is of type i32, not i64"),
        (StackAlloc(Constant(I64, undefined=True), result=r(PTR)), None, "the size is undefined"),
        (StackAlloc(EIGHT, debug_type="int", result=r(PTR)), None, "there is no debug type 'int'"),
        (StackAlloc(EIGHT, result=r()), None, "the result is of type i32, not ptr"),
        (HeapAlloc(ONE, result=r(PTR)), None, "the size is of type i32, not i64"),
        (HeapAlloc(EIGHT), None, "has no result"),
        (Free(ONE), None, "the address is of type i32, not ptr"),
        (Free(X, result=r()), None, "cannot have a result"),
        (BlockSize(ONE, result=r(I64)), None, "the address is of type i32, not ptr"),
        (BlockSize(X, result=r()), None, "the result is of type i32, not i64"),
        (ThreadLocalAddress("y", result=r(PTR)), None, "there is no global 'y'"),
        (ThreadLocalAddress("x", result=r(PTR)), "%r = thread_local @x", "global 'x' is not thread-local"),
        (ThreadLocalAddress("mine", result=r()), None, "the result is of type i32, not ptr"),
        # calls and threads
        (Call("f"), "call f()", "there is no function 'f'"),
        (Call("callee"), None, "function 'callee' takes 1 arguments, not 0"),
        (Call("callee", [W]), "call callee(i64 1)", "argument 1 is of type i64, not i32"),
        (Call("callee", [ONE], result=r(I64)), None, "the result is of type i64, not i32"),
        (Call("nothing", result=r()), None, "cannot have a result: function 'nothing' returns nothing"),
        (Call(ONE), None, "the callee is of type i32, not ptr"),
        (Spawn(FunctionAddress("f"), result=r(PTR)), "%r = spawn &f()", "there is no function 'f'"),
        (Spawn(FunctionAddress("callee"), result=r(PTR)), None, "function 'callee' takes 1 arguments, not 0"),
        (Spawn(ONE, result=r(PTR)), None, "the function is of type i32, not ptr"),
        (Spawn(X), None, "has no result"),
        (Self(result=r()), None, "the result is of type i32, not ptr"),
        (Choose(W, result=r()), None, "the count is of type i64, not i32"),
        (Choose(ONE, result=r(I64)), None, "the result is of type i64, not i32"),
        (Assume(ONE), None, "the condition is of type i32, not i1"),
        (Assume(TRUE, result=r()), None, "cannot have a result"),
        (Await(ONE, "mutex", X, NULL), None, "the condition is of type i32, not i1"),
        (Await(TRUE, "", X, NULL), None, "does not say what it waits for"),
        (Await(TRUE, "mutex", ONE, NULL), None, "the object is of type i32, not ptr"),
        (Await(TRUE, "mutex", X, ONE), None, "the holder is of type i32, not ptr"),
        (Claim(ONE, "keep"), "claim keep 1", "the lock is of type i32, not ptr"),
        (Claim(X, "try", result=r()), None, "cannot have a result"),
        (AtomicBegin(result=r()), None, "cannot have a result"),
        (Fence("release", result=r()), "%r = fence release", "cannot have a result"),
        (Output(ONE), "output 1", "the byte is of type i32, not i8"),
        (Instruction(), None, "Instruction is not a kind of instruction"),
    ],
)
def test_what_is_wrong_with_an_instruction(instruction: Instruction, text: str | None, problem: str) -> None:
    text = text or format_instruction(instruction)
    reject(with_body(instruction), f"function 'main', block 'entry', `{text}`: {problem}")


@pytest.mark.parametrize(
    "instruction",
    [
        Binary("plus", ONE, ONE, result=r()),  # type: ignore[arg-type]
        Compare("less", ONE, ONE, result=r(I1)),  # type: ignore[arg-type]
        Convert("cast", ONE, result=r(I64)),  # type: ignore[arg-type]
        Unary("not", ONE, result=r()),  # type: ignore[arg-type]
        Update("swap", X, ONE),  # type: ignore[arg-type]
        Load(X, "consume", result=r()),  # type: ignore[arg-type]
        CompareExchange(X, ONE, ONE, failure="release"),
        Fence("relaxed"),
    ],
)
def test_unknown_operations(instruction: Instruction) -> None:
    with pytest.raises(InvalidProgram, match=r"'\w+' is not one of \w+, "):
        validate(with_body(instruction))


@pytest.mark.parametrize(
    ("terminator", "problem"),
    [
        (Jump("nowhere"), "there is no block 'nowhere'"),
        (Branch(TRUE, "nowhere", "entry"), "there is no block 'nowhere'"),
        (Switch(ONE, [(1, "nowhere")], "entry"), "there is no block 'nowhere'"),
        (Branch(ONE, "next", "next"), "the condition is of type i32, not i1"),
        (Switch(NULL, [], "next"), "the value is of type ptr, which is not an integer"),
        (Switch(ONE, [(-1, "next")], "next"), "case -1 does not fit i32 (stored modulo 2**32)"),
        (Switch(ONE, [(1, "next"), (1, "next")], "next"), "case 1 occurs twice"),
        (Return(ONE), "returns a value, but the function returns nothing"),
        (Exit(W), "the status is of type i64, not i32"),
        (LongJump(W, W, ONE), "the object is of type i64, not ptr"),
        (LongJump(NULL, ONE, ONE), "the landing is of type i32, not i64"),
        (Fail("oops", "x"), "'oops' is not one of abort, arithmetic, assertion, limit, memory, sync"),  # type: ignore[arg-type]
        (Fail("abort", "x", result=r()), "cannot have a result"),
        (Fail("abort", "x", ONE), "the text is of type i32, not ptr"),
        (Fail("abort", "x", None, W), "the cause is of type i64, not ptr"),
        (Terminator(), "Terminator is not a kind of terminator"),
    ],
)
def test_what_is_wrong_with_a_terminator(terminator: Terminator, problem: str) -> None:
    program = with_body(terminator, returns=False)
    program.functions["main"].blocks["next"] = Block("next", instructions=[Return()])
    reject(program, f"function 'main', block 'entry', `{format_instruction(terminator)}`: {problem}")


def test_what_a_function_returns() -> None:
    program = with_body()
    callee = program.functions["callee"].entry
    callee.instructions = [Return()]
    reject(program, "function 'callee', block 'entry', `return`: returns nothing, but the function returns i32")
    callee.instructions = [Return(W)]
    reject(program, "function 'callee', block 'entry', `return i64 1`: the value is of type i64, not i32")
    program.functions["callee"].returns = Int(0)
    reject(program, "function 'callee': i0 is not an integer type of 1 to 64 bits")


def test_the_entry_function() -> None:
    reject(Program(), "there is no function 'main' to start with")
    p = ProgramBuilder(entry="start")
    with p.function("start", I32):
        pass
    reject(p.program, "function 'start' starts the program, so it cannot have parameters")


def test_names_and_keys_agree() -> None:
    program = with_body()
    program.functions["main"].name = "other"
    reject(program, "function 'main': is listed under this name but called 'other'")
    program = with_body()
    program.functions["main"].blocks["entry"].name = "other"
    reject(program, "function 'main', block 'other': is listed as 'entry'")
    program = with_body()
    program.globals["x"].name = "y"
    reject(program, "global 'x': is listed under this name but called 'y'")


def test_blocks_have_one_terminator_at_their_end() -> None:
    program = with_body(Self(result=r(PTR)), returns=False)
    reject(program, "function 'main', block 'entry': does not end with a terminator")
    program.functions["main"].blocks["entry"].instructions = []
    reject(program, "function 'main', block 'entry': does not end with a terminator")
    program.functions["main"].blocks.clear()
    reject(program, "function 'main': has no blocks")
    reject(
        with_body(Return()),
        "function 'main', block 'entry', `return`: a terminator that is not the last instruction of its block",
    )


def test_nothing_goes_to_the_entry() -> None:
    program = with_body(Jump("entry"), returns=False)
    reject(program, "function 'main', block 'entry': is the entry, but block 'entry' goes to it")


def test_globals() -> None:
    def check(variable: GlobalVariable, problem: str) -> None:
        program = with_body()
        program.globals[variable.name] = variable
        reject(program, f"global {variable.name!r}: {problem}")

    check(GlobalVariable("main", b""), "there is a function of the same name")
    check(GlobalVariable("g", b"", private=True), "only a thread-local variable can be private")
    check(GlobalVariable("g", b"", debug_type="int"), "there is no debug type 'int'")

    def relocated(*relocations: Relocation) -> GlobalVariable:
        return GlobalVariable("g", bytes(16), list(relocations))

    check(relocated(Relocation(9, "x")), "relocation at offset 9 is outside of its 16 bytes")
    check(relocated(Relocation(-1, "x")), "relocation at offset -1 is outside of its 16 bytes")
    check(relocated(Relocation(8, "x"), Relocation(1, "x")), "relocation at offset 8 overlaps the one before")
    check(relocated(Relocation(0, "y")), "relocation to 'y', which is neither a global nor a function")
    check(
        relocated(Relocation(0, "mine")),
        "relocation to 'mine', which is thread-local and has no single address",
    )
    program = with_body()
    program.globals["g"] = relocated(Relocation(0, "main"), Relocation(8, "x", 4))
    validate(program)


def test_debug_types_exist() -> None:
    program = with_body()
    program.debug_types["pair"] = DebugType("pair", "struct", 8, (Member("first", 0, "int"),))
    reject(program, "debug type 'pair': there is no debug type 'int'")
    program.debug_types["int"] = DebugType("int", "int", 4)
    validate(program)
    program.debug_types["list"] = DebugType("list", "array", 8, element="float", count=2)
    reject(program, "debug type 'list': there is no debug type 'float'")


def test_a_register_is_defined_once() -> None:
    register = r(PTR)
    reject(
        with_body(Self(result=register), Self(result=register)),
        "function 'main': register %r is defined more than once",
    )


def diamond(left: list[Instruction], right: list[Instruction], phis: list[Phi], end: list[Instruction]) -> Program:
    program = with_body(Branch(TRUE, "left", "right"), returns=False)
    program.functions["main"].blocks |= {
        "left": Block("left", instructions=[*left, Jump("end")]),
        "right": Block("right", instructions=[*right, Jump("end")]),
        "end": Block("end", phis, [*end, Return()]),
    }
    return program


def test_definitions_come_before_uses() -> None:
    register = r(PTR)
    make, use = Self(result=register), Free(register)
    unclear = "%r is used where it need not have been computed before"
    reject(with_body(use, make), f"function 'main', block 'entry', `free %r`: {unclear}")
    reject(diamond([make], [use], [], []), f"function 'main', block 'right', `free %r`: {unclear}")
    reject(diamond([make], [], [], [use]), f"function 'main', block 'end', `free %r`: {unclear}")
    itself = Offset(register, W, 1, result=register)
    reject(with_body(itself), f"function 'main', block 'entry', `%r = offset %r + 1 * 1`: {unclear}")
    validate(diamond([make, use], [], [], []))


def test_code_that_never_runs_may_use_anything() -> None:
    register = r(PTR)
    program = with_body()
    program.functions["main"].blocks["dead"] = Block("dead", instructions=[Free(register), Jump("dead")])
    reject(program, "function 'main', block 'dead', `free %r`: %r is not defined in this function")
    program.functions["main"].entry.instructions.insert(0, Self(result=register))
    validate(program)


def test_phis_have_one_value_for_each_predecessor() -> None:
    register = r()

    def check(problem: str, *incoming: tuple[str, Value]) -> None:
        phi = Phi(register, list(incoming))
        shown = format_function(Function("f", blocks={"b": Block("b", [phi])})).splitlines()[2].strip()
        reject(diamond([], [], [phi], []), f"function 'main', block 'end', `{shown}`: {problem}")

    check("no value for predecessor 'right'", ("left", ONE))
    check("several values for predecessor 'left'", ("left", ONE), ("left", ONE))
    check("block 'entry' is not a predecessor", ("left", ONE), ("right", ONE), ("entry", ONE))
    check("the value from 'right' is of type i64, not i32", ("left", ONE), ("right", W))
    check("the constant -1 does not fit i32 (stored modulo 2**32)", ("left", ONE), ("right", Constant(I32, -1)))
    validate(diamond([], [], [Phi(register, [("right", ONE), ("left", ONE)])], [Output(Constant(I8))]))


def test_the_values_of_phis_come_from_their_predecessors() -> None:
    register, merged = r(PTR), Register("p", PTR)
    make = Self(result=register)
    reject(
        diamond([make], [], [Phi(merged, [("left", NULL), ("right", register)])], []),
        "function 'main', block 'end', `%p = phi ptr [left: null, right: %r]`: "
        "%r need not have been computed by the end of block 'right'",
    )
    validate(diamond([make], [], [Phi(merged, [("left", register), ("right", NULL)])], []))
    reject(
        diamond([], [], [Phi(merged, [("left", register), ("right", NULL)])], []),
        "function 'main', block 'end', `%p = phi ptr [left: %r, right: null]`: %r is not defined in this function",
    )
    program = with_body()
    program.functions["main"].entry.phis.append(Phi(merged, []))
    reject(
        program,
        "function 'main', block 'entry', `%p = phi ptr []`: the entry has no predecessors, so it cannot have phis",
    )


# ------------------------------------------------------------------------------------------------------ the graph


def graph(**edges: str) -> Function:
    """A function whose blocks, named by letters, go to the given ones."""
    blocks: dict[str, Block] = {}
    for name, targets in edges.items():
        terminator: Terminator
        match list(targets):
            case []:
                terminator = Return()
            case [one]:
                terminator = Jump(one)
            case [first, *others, last]:
                terminator = Switch(ONE, [(i, t) for i, t in enumerate([first, *others])], last)
        blocks[name] = Block(name, instructions=[terminator])
    return Function("f", blocks=blocks)


def test_edges() -> None:
    function = graph(a="bcb", b="d", c="d", d="")
    assert successors(function.blocks["a"]) == ["b", "c"]
    assert successors(Block("x", instructions=[Branch(TRUE, "y", "y")])) == ["y"]
    assert predecessors(function) == {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}


def test_reverse_postorder_reads_like_the_source() -> None:
    assert reverse_postorder(graph(a="bc", b="d", c="d", d="", x="d")) == ["a", "b", "c", "d"]


def test_dominators_and_frontiers() -> None:
    function = graph(a="b", b="ce", c="d", d="b", e="fg", f="h", g="h", h="be")
    tree = dominators(function)
    assert tree.parent == {"b": "a", "c": "b", "d": "c", "e": "b", "f": "e", "g": "e", "h": "e"}
    assert tree.dominates("b", "h") and tree.dominates("e", "e") and not tree.dominates("c", "e")
    frontiers = {name: set(blocks) for name, blocks in dominance_frontiers(function, tree).items()}
    assert frontiers == {
        "a": set(), "b": {"b"}, "c": {"b"}, "d": {"b"}, "e": {"b", "e"}, "f": {"h"}, "g": {"h"}, "h": {"b", "e"},
    }  # fmt: skip


def test_loops_are_nested() -> None:
    function = graph(a="b", b="ci", c="d", d="ce", e="b", i="ij", j="")
    loops = natural_loops(function)
    assert {loop.header: "".join(sorted(loop.blocks)) for loop in loops} == {"b": "bcde", "c": "cd", "i": "i"}
    assert [loop.header for loop in loops].index("b") < [loop.header for loop in loops].index("c")
    inner, outer = innermost_loop(loops, "d"), innermost_loop(loops, "e")
    assert inner and inner.header == "c"
    assert outer and outer.header == "b"
    assert innermost_loop(loops, "j") is None


def test_a_cycle_with_two_entries_is_not_a_natural_loop() -> None:
    assert natural_loops(graph(a="bc", b="c", c="b")) == []


letters = "abcdefgh"
graphs = st.lists(st.lists(st.sampled_from(letters[1:]), max_size=3), min_size=8, max_size=8).map(
    lambda targets: graph(**{name: "".join(t) for name, t in zip(letters, targets, strict=True)})
)


def reachable_without(function: Function, avoided: str | None) -> set[str]:
    entry = function.entry.name
    if entry == avoided:
        return set()
    seen, pending = {entry}, [entry]
    while pending:
        for target in successors(function.blocks[pending.pop()]):
            if target not in seen and target != avoided:
                seen.add(target)
                pending.append(target)
    return seen


@given(graphs)
def test_dominance_is_what_it_says(function: Function) -> None:
    tree = dominators(function)
    reachable = reachable_without(function, None)
    assert set(tree.order) == reachable
    for above in reachable:
        free = reachable_without(function, above)
        assert {below for below in reachable if tree.dominates(above, below)} == reachable - free


@given(graphs)
def test_frontiers_are_where_dominance_ends(function: Function) -> None:
    tree = dominators(function)
    frontiers = dominance_frontiers(function, tree)
    for above in tree.order:
        ends = {
            target
            for name in tree.order
            if tree.dominates(above, name)
            for target in successors(function.blocks[name])
            if target == above or not tree.dominates(above, target)
        }
        assert set(frontiers[above]) == ends
        assert len(frontiers[above]) == len(ends)


@given(graphs)
def test_any_two_loops_are_nested_or_disjoint(function: Function) -> None:
    loops = natural_loops(function)
    for position, loop in enumerate(loops):
        assert loop.header in loop.blocks
        for later in loops[position + 1 :]:
            assert not loop.blocks & later.blocks or later.blocks < loop.blocks
