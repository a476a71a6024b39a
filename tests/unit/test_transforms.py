"""Local variables in registers, private objects, dead code: what is done to a program and that it stays the same."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mazurka._native import Exploration, Machine
from mazurka.machine.lowering import lower
from mazurka.program.builder import FunctionBuilder, ProgramBuilder
from mazurka.program.instructions import Claim, FunctionAddress, GlobalAddress, Phi, Register, StackAlloc, Value
from mazurka.program.printer import format_function, format_program
from mazurka.program.program import Program
from mazurka.program.types import I8, I16, I32, I64, PTR
from mazurka.program.validate import validate
from mazurka.transforms import find_private_objects, prepare, promote
from mazurka.transforms.simplify import remove_dead_instructions, remove_unreachable_blocks
from tests.oracle import generator, loop_generator


def promoted(build: Callable[[FunctionBuilder, GlobalAddress], None]) -> str:
    """The body of a function after promotion; `x` is a shared variable."""
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("callee", PTR):
        pass
    with p.function("main") as f:
        build(f, x)
    main = p.build().functions["main"]
    promote(main)
    validate(p.program)
    return format_function(main).removeprefix("function main() {\n").removesuffix("}\n")


# -------------------------------------------------------------------------------------------------- promotion


def test_a_variable_becomes_a_register() -> None:
    def build(f: FunctionBuilder, x: GlobalAddress) -> None:
        count = f.local("count", I32, 1)
        f.store(count, f.add(f.load(count), f.load(x)))
        f.store(x, f.load(count))

    assert (
        promoted(build)
        == """entry:
    %1 = load i32 @x
    %2 = add i32 1, %1
    store i32 %2, @x
    return
"""
    )


def test_values_meet_in_phis() -> None:
    def build(f: FunctionBuilder, x: GlobalAddress) -> None:
        count = f.local("count", I32, 0)
        with f.while_(lambda: f.slt(f.load(count), f.load(x))):
            f.store(count, f.add(f.load(count), 1))
        f.store(x, f.load(count))

    assert (
        promoted(build)
        == """entry:
    jump loop.1
loop.1:
    %count = phi i32 [entry: 0, body.3: %3]
    %1 = load i32 @x
    %2 = slt i32 %count, %1
    branch %2, body.3, end.2
body.3:
    %3 = add i32 %count, 1
    jump loop.1
end.2:
    store i32 %count, @x
    return
"""
    )


def test_what_was_never_written_is_undefined() -> None:
    def build(f: FunctionBuilder, x: GlobalAddress) -> None:
        number = f.local("number")
        with f.if_(f.eq(f.load(x), 0)):
            f.store(number, 1)
        f.store(x, f.load(number))
        f.store(x, f.load(f.local("other")))

    assert (
        promoted(build)
        == """entry:
    %1 = load i32 @x
    %2 = eq i32 %1, 0
    branch %2, then.1, end.2
then.1:
    jump end.2
end.2:
    %number = phi i32 [entry: undefined, then.1: 1]
    store i32 %number, @x
    store i32 undefined, @x
    return
"""
    )


def test_a_variable_of_a_loop_body_is_new_in_each_round() -> None:
    def build(f: FunctionBuilder, x: GlobalAddress) -> None:
        with f.repeat(2):
            number = f.local("number")
            f.store(x, f.load(number))
            f.store(number, 1)

    assert "    store i32 undefined, @x\n" in promoted(build)


def test_members_of_a_structure_become_registers() -> None:
    def build(f: FunctionBuilder, x: GlobalAddress) -> None:
        pair = f.stack_alloc(16)
        second = f.offset(pair, 1, 8)
        f.store(pair, 1, I32)
        f.store(f.offset(second, -1, 4, 4), 2, I64)
        f.store(x, f.load(f.offset(pair, displacement=0), I32))
        f.store(x, f.load(second, I64))

    assert (
        promoted(build)
        == """entry:
    store i32 1, @x
    store i64 2, @x
    return
"""
    )


def test_a_part_that_is_accessed_as_a_pointer_and_as_an_integer() -> None:
    """What compilers make of an atomic operation on a pointer."""

    def build(f: FunctionBuilder, x: GlobalAddress) -> None:
        expected = f.local("expected", PTR, x)
        f.store(expected, f.load(x, I64), I64)
        f.store(x, f.load(expected, I64), I64)
        f.store(x, f.load(expected, PTR), PTR)

    assert (
        promoted(build)
        == """entry:
    %1 = load i64 @x
    %expected = bitcast i64 %1 to ptr
    %2 = bitcast ptr %expected to i64
    store i64 %2, @x
    store ptr %expected, @x
    return
"""
    )


def test_phis_that_were_there_see_the_registers() -> None:
    def build(f: FunctionBuilder, x: GlobalAddress) -> None:
        count = f.local("count", I32, 0)
        f.block("loop")
        last = f.phi(I32, ("entry", 7))
        now = f.load(count)
        f.store(count, f.add(last, now))
        f.incoming(last, "loop", now)
        f.branch(f.eq(f.load(x), 0), "loop", "end")
        f.block("end")

    assert (
        promoted(build)
        == """entry:
    jump loop
loop:
    %1 = load i32 @x
    %2 = eq i32 %1, 0
    branch %2, loop, end
end:
    return
"""
    )

    def build_and_use(f: FunctionBuilder, x: GlobalAddress) -> None:
        build(f, x)
        f.store(x, f.function.blocks["loop"].phis[0].result)

    text = promoted(build_and_use)
    assert "%1 = phi i32 [entry: 7, loop: %count]" in text
    assert "%count = phi i32 [entry: 0, loop: %2]" in text
    assert "%2 = add i32 %1, %count" in text


def stays(use: Callable[[FunctionBuilder, Register], object], size: int = 8) -> None:
    """An object that is used like this, besides plainly, stays in memory with all of its accesses."""

    def build(f: FunctionBuilder, x: GlobalAddress) -> None:
        place = f.stack_alloc(size)
        f.store(place, 1, I32)
        use(f, place)
        f.store(x, f.load(place, I32))

    text = promoted(build)
    assert f"stack_alloc {size}" in text
    assert "store i32 1, %1" in text


def test_what_stays_in_memory() -> None:
    # accesses that do not fit each other
    stays(lambda f, place: f.load(place, I64))
    stays(lambda f, place: f.load(place, I16))
    stays(lambda f, place: f.store(f.offset(place, displacement=2), 1, I32))
    stays(lambda f, place: f.store(f.offset(place, displacement=3), 1, I8))
    # accesses that are errors
    stays(lambda f, place: f.load(f.offset(place, displacement=8), I32))
    stays(lambda f, place: f.load(f.offset(place, displacement=6), I32))
    stays(lambda f, place: f.load(f.offset(place, -1, 4), I32))
    stays(lambda f, place: f.load(f.offset(place, displacement=5), I8, align=2))
    stays(lambda f, place: f.free(place))
    # an address that goes elsewhere
    stays(lambda f, place: f.call("callee", place))
    stays(lambda f, place: f.store(place, place, PTR))
    stays(lambda f, place: f.store(GlobalAddress("x"), f.offset(place)))
    stays(lambda f, place: f.output(f.convert("trunc", f.convert("bitcast", place, I64), I8)))
    stays(lambda f, place: f.check(f.ne(place, 0)))
    stays(lambda f, place: f.load(f.select(f.eq(f.self(), 0), place, 0), I32))
    stays(lambda f, place: f.update("add", place, 1, I32))
    stays(lambda f, place: f.compare_exchange(place, 1, 2, I32))
    stays(lambda f, place: f.claim(place, "look"))

    def through_a_phi(f: FunctionBuilder, place: Register) -> None:
        f.block("loop")
        address = f.phi(PTR, ("entry", place))
        f.incoming(address, "loop", place)
        f.branch(f.eq(f.load(address, I32), 0), "loop", "end")
        f.block("end")

    stays(through_a_phi)
    # offsets and sizes that are not known
    stays(lambda f, place: f.load(f.offset(place, f.convert("sext", f.choose(2), I64), 4), I32))


def test_an_object_of_a_computed_size_stays() -> None:
    def build(f: FunctionBuilder, x: GlobalAddress) -> None:
        f.store(f.stack_alloc(f.convert("sext", f.load(x), I64)), 1, I32)

    assert "stack_alloc %2" in promoted(build)


def test_shared_accesses_stay_in_their_order() -> None:
    def build(f: FunctionBuilder, x: GlobalAddress) -> None:
        unused = f.local("unused")
        f.store(unused, f.load(x))
        f.store(x, 1)
        f.store(unused, f.load(x))

    assert (
        promoted(build)
        == """entry:
    %1 = load i32 @x
    store i32 1, @x
    %2 = load i32 @x
    return
"""
    )


# -------------------------------------------------------------------------------------------------- dead code


def test_dead_code_is_what_nobody_can_miss() -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    mine = p.thread_local("mine")
    with p.function("main") as f:
        number = f.load(x)
        f.select(f.eq(f.add(number, 1), 2), f.unary("ctpop", number), f.convert("trunc", f.convert(
            "bitcast", f.offset(f.thread_local(mine)), I64), I32))  # fmt: skip
        f.self()
        f.stack_alloc(4)
        f.stack_alloc(f.convert("sext", number, I64))
        f.binary("sdiv", number, f.xor(number, 1))
        f.malloc(4)
        f.choose(2)
        with f.repeat(2):
            pass
    main = p.build().functions["main"]
    remove_dead_instructions(main)
    validate(p.program)
    assert format_function(main).startswith("""function main() {
entry:
    %1 = load i32 @x
    %2 = sext i32 %1 to i64
    %3 = stack_alloc %2
    %4 = xor i32 %1, 1
    %5 = sdiv i32 %1, %4
    %6 = heap_alloc 4
    %7 = choose 2
    jump loop.1
loop.1:
    %8 = phi i32 [entry: 0, next.3: %10]
""")


def test_phis_that_only_feed_each_other_are_dead() -> None:
    p = ProgramBuilder()
    with p.function("main") as f:
        f.block("loop")
        count = f.phi(I32, ("entry", 0))
        f.incoming(count, "loop", f.add(count, 1))
        f.branch(f.eq(f.choose(2), 0), "loop", "end")
        f.block("end")
    remove_dead_instructions(p.build().functions["main"])
    assert "phi" not in format_program(p.build())


def test_unreachable_blocks_go_and_phis_forget_them() -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("main") as f:
        f.jump("end")
        f.block("dead")
        f.jump("end")
        f.block("end")
        f.store(x, f.phi(I32, ("entry", 1), ("dead", 2)))
    main = p.build().functions["main"]
    remove_unreachable_blocks(main)
    assert list(main.blocks) == ["entry", "end"]
    assert "phi i32 [entry: 1]" in format_program(p.build())


# ----------------------------------------------------------------------------------------------------- escape


def is_private(use: Callable[[FunctionBuilder, Register], object]) -> bool:
    """Whether an object stays private when its address is used like this."""
    p = ProgramBuilder()
    p.variable("shared", PTR)
    with p.function("reads", PTR, returns=I32) as f:
        f.ret(f.load(f.parameters[0], I32))
    with p.function("publishes", PTR) as f:
        f.store(GlobalAddress("shared"), f.parameters[0])
    with p.function("passes_on", PTR, PTR) as f:
        f.call("reads", f.offset(f.parameters[0], 1, 4))
        f.call("publishes", f.parameters[1])
    recursive = p.function("recursive", PTR, I32)
    with recursive as f:
        address, depth = f.parameters
        with f.if_(f.sgt(depth, 0)):
            f.call("recursive", f.offset(address, displacement=4), f.sub(depth, 1))
        f.store(address, depth)
    with p.function("returns_it", PTR, returns=PTR) as f:
        f.ret(f.parameters[0])
    with p.function("main") as f:
        place = f.stack_alloc(64)
        f.store(place, 1, I32)
        use(f, place)
    program = p.build()
    find_private_objects(program)
    (found,) = (
        instruction
        for block in program.functions["main"].blocks.values()
        for instruction in block.instructions
        if isinstance(instruction, StackAlloc)
    )
    return found.private


SHARED = GlobalAddress("shared")


@pytest.mark.parametrize(
    "use",
    [
        lambda f, place: f.load(place, I32),
        lambda f, place: f.store(f.offset(place, 3, 4), 1, I32),
        lambda f, place: f.update("add", place, 1, I32),
        lambda f, place: f.compare_exchange(place, 1, 2, I32),
        lambda f, place: f.free(place),
        lambda f, place: f.block_size(place),
        lambda f, place: f.check(f.eq(place, 0)),
        lambda f, place: f.await_(1, "mutex", place, place),
        lambda f, place: f.claim(place, "acquire"),
        lambda f, place: f.call("reads", place, returns=I32),
        lambda f, place: f.call("recursive", place, 3),
        lambda f, place: f.load(f.call("returns_it", place, returns=PTR), I32),
        lambda f, place: f.call("passes_on", place, 0),
        lambda f, place: f.load(f.select(f.eq(f.load(place, I32), 0), place, SHARED), I32),
        lambda f, place: f.load(f.convert("bitcast", f.and_(f.convert("bitcast", place, I64), -8), PTR), I32),
        lambda f, place: f.store(SHARED, f.convert("sext", f.load(place, I32), I64)),
    ],
)
def test_private(use: Callable[[FunctionBuilder, Register], object]) -> None:
    assert is_private(use)


@pytest.mark.parametrize(
    "use",
    [
        lambda f, place: f.store(SHARED, place),
        lambda f, place: f.store(place, place, PTR),
        lambda f, place: f.store(SHARED, f.offset(place, displacement=8)),
        lambda f, place: f.store(SHARED, f.offset(SHARED, f.convert("bitcast", place, I64))),
        lambda f, place: f.store(SHARED, f.sub(f.convert("bitcast", place, I64), 1)),
        lambda f, place: f.store(SHARED, f.select(f.eq(f.load(place, I32), 0), place, 0)),
        lambda f, place: f.update("exchange", SHARED, place),
        lambda f, place: f.compare_exchange(SHARED, 0, place),
        lambda f, place: f.compare_exchange(SHARED, place, 0),
        lambda f, place: f.spawn("publishes", place),
        lambda f, place: f.spawn(place),
        lambda f, place: f.call("publishes", place),
        lambda f, place: f.call("passes_on", 0, place),
        lambda f, place: f.store(SHARED, f.call("returns_it", place, returns=PTR)),
        lambda f, place: f.call(FunctionAddress("returns_it"), place, returns=PTR),
        lambda f, place: f.call(FunctionAddress("reads"), place, returns=I32),
        lambda f, place: f.call(place),
        lambda f, place: f.output(f.convert("trunc", place, I8)),
        lambda f, place: f.choose(f.convert("trunc", place, I32)),
        lambda f, place: f.malloc(f.convert("bitcast", place, I64)),
    ],
)
def test_not_private(use: Callable[[FunctionBuilder, Register], object]) -> None:
    assert not is_private(use)


def test_an_address_leaks_through_a_phi() -> None:
    def loop(stored: bool) -> Callable[[FunctionBuilder, Register], object]:
        def use(f: FunctionBuilder, place: Register) -> None:
            f.block("loop")
            address = f.phi(PTR, ("entry", place))
            further = f.offset(address, displacement=4)
            f.incoming(address, "loop", further)
            f.branch(f.eq(f.load(address, I32), 0), "loop", "end")
            f.block("end")
            if stored:
                f.store(SHARED, further)

        return use

    assert is_private(loop(stored=False))
    assert not is_private(loop(stored=True))


def test_thread_local_variables() -> None:
    p = ProgramBuilder()
    shared = p.variable("shared", PTR)
    kept, given = p.thread_local("kept"), p.thread_local("given")
    p.thread_local("unused")
    with p.function("main") as f:
        f.store(f.thread_local(kept), 1)
        f.load(f.thread_local(given))
        f.store(shared, f.thread_local(given))
    program = prepare(p.build())
    validate(program)
    assert {v.name: v.private for v in program.globals.values()} == {
        "shared": False, "kept": True, "given": False, "unused": True,
    }  # fmt: skip


def test_promotion_comes_first() -> None:
    """The address of `number` is stored, but only into a variable that goes to a register."""
    p = ProgramBuilder()
    with p.function("reads", PTR) as f:
        f.load(f.parameters[0], I32)
    with p.function("main") as f:
        number = f.local("number", I32, 1)
        pointer = f.local("pointer", PTR, number)
        f.call("reads", f.load(pointer))
    assert 'stack_alloc 4, private, "number"' in format_program(prepare(p.build()))


# ----------------------------------------------------------------------------------------------------- claims


def without_claims(program: Program) -> Program:
    for function in program.functions.values():
        for block in function.blocks.values():
            block.instructions = [each for each in block.instructions if not isinstance(each, Claim)]
    return program


def test_claims_are_in_nobody_s_way() -> None:
    """Of a program with claims, exactly the same becomes as of one without, and the claims are still there; unless a
    function takes a lock or gives it back, which is known by its claims."""
    shapes = [loop_generator.random_loop_shape(random.Random(n)) for n in range(250)]
    unlocked = [
        shape for shape in shapes if not any(f"'{word}'" in str(shape) for word in ("critical", "lock", "give"))
    ]
    assert len(unlocked) > 150
    programs: list[Callable[[], Program]] = [
        *(lambda n=n: generator.build(generator.random_shape(random.Random(n))) for n in range(200)),
        *(lambda shape=shape: loop_generator.build(shape) for shape in unlocked),
    ]
    for build in programs:
        claimed = prepare(build())
        text = format_program(claimed)
        claims = format_program(build()).count("  claim ")
        assert text.count("  claim ") >= claims  # (more, where calls were inlined)
        assert format_program(without_claims(claimed)) == format_program(prepare(without_claims(build())))


def test_claims_in_a_loop_that_only_looks() -> None:
    """A round that claims but changes nothing is as pure as one that does not claim."""

    def build() -> Program:
        p = ProgramBuilder()
        mutex = p.mutex("m")
        with p.function("worker") as f:
            f.lock(mutex)
            f.unlock(mutex)
        with p.function("main") as f:
            f.spawn("worker")
            with f.loop(), f.atomic():
                with f.if_(f.eq(f.load(mutex), 0)):
                    f.claim(mutex, "try")
                    f.store(mutex, f.self())
                    f.atomic_end()
                    f.ret()
                f.claim(mutex, "look")
        return p.build()

    claimed = prepare(build())
    assert format_program(claimed).count(", loop") == 1
    assert format_program(claimed).count("  claim ") == 4
    counts = explored(claimed)
    assert explored(prepare(without_claims(build()))) == counts
    assert format_program(without_claims(claimed)) == format_program(prepare(without_claims(build())))


# ------------------------------------------------------------------------- programs do the same before and after


def behaviour(program: Program) -> tuple[bytes, str | None]:
    """What a program of one thread prints, and how it fails."""
    machine = Machine(lower(program).code, record=True)
    while machine.failure() is None and machine.status(1) == "ready":
        machine.step(1)
    failure = machine.failure()
    return machine.output(), failure.kind if failure else None


@st.composite
def sequential_programs(draw: st.DrawFn) -> Program:
    """A program of one thread with local variables of all kinds, in branches and loops, some never initialised."""
    p = ProgramBuilder()
    x = p.variable("x", I32, 5)
    with p.function("touch", PTR) as f:
        f.store(f.parameters[0], f.add(f.load(f.parameters[0], I32), 1))

    def number(f: FunctionBuilder, variables: list[Value]) -> Register:
        return f.load(draw(st.sampled_from(variables)), I32)

    def statements(f: FunctionBuilder, variables: list[Value], depth: int) -> None:
        variables = list(variables)
        for _ in range(draw(st.integers(0, 4))):
            match draw(st.integers(0, 9 if depth else 6)):
                case 0:
                    initial = draw(st.none() | st.integers(0, 9))
                    variables.append(f.local("v", I32, initial))
                case 1:
                    block = f.stack_alloc(8)
                    variables += [block, f.offset(block, displacement=4)]
                case 2 | 3:
                    f.store(draw(st.sampled_from(variables)), f.add(number(f, variables), number(f, variables)))
                case 4:
                    f.store(draw(st.sampled_from(variables)), draw(st.integers(0, 9)), I32)
                case 5:
                    f.output(f.convert("trunc", number(f, variables), I8))
                case 6:
                    odd = draw(st.sampled_from(["touch", "half", "beyond"]))
                    if odd == "touch":
                        f.call("touch", draw(st.sampled_from(variables)))
                    else:
                        f.load(draw(st.sampled_from(variables)), I16 if odd == "half" else I64)
                case 7:
                    with f.if_(f.slt(number(f, variables), draw(st.integers(0, 9)))):
                        statements(f, variables, depth - 1)
                    if draw(st.booleans()):
                        with f.else_():
                            statements(f, variables, depth - 1)
                case 8:
                    with f.repeat(draw(st.integers(0, 3))):
                        statements(f, variables, depth - 1)
                case 9:
                    limit = f.local("limit", I32, draw(st.integers(0, 3)))
                    with f.while_(lambda limit=limit: f.sgt(f.load(limit), 0)):  # type: ignore[misc]
                        f.store(limit, f.sub(f.load(limit), 1))
                        statements(f, variables, depth - 1)
                        with f.if_(f.eq(number(f, variables), draw(st.integers(0, 9)))):
                            f.break_()

    with p.function("main") as f:
        variables: list[Value] = [x, f.local("a", I32, 1), f.local("b", I32, 2), f.local("c")]
        statements(f, variables, 3)
        for variable in variables:
            f.output(f.convert("trunc", f.load(variable, I32), I8))
    return p.build()


@settings(max_examples=300, deadline=None)
@given(sequential_programs())
def test_preparing_a_program_keeps_its_behaviour(program: Program) -> None:
    before = behaviour(program)
    prepare(program)
    validate(program)
    assert behaviour(program) == before


@given(sequential_programs())
def test_preparing_a_program_is_deterministic_and_complete(program: Program) -> None:
    again = copy.deepcopy(program)
    text = format_program(prepare(program))
    assert format_program(prepare(again)) == text
    assert format_program(prepare(program)) == text, "nothing is left to do for a second time"


def explored(program: Program) -> tuple[int, int, bool]:
    """The executions of a program up to equivalence, and whether it has a bug."""
    exploration = Exploration(lower(program).code, algorithm="pop", keep_going=True)
    exploration.run()
    complete, blocked, *_ = exploration.progress()
    return complete, blocked, exploration.bug() is not None


@st.composite
def concurrent_programs(draw: st.DrawFn) -> Program:
    """Two threads that share some of their local variables with each other, by accident or on purpose."""
    p = ProgramBuilder()
    x = p.variable("x")
    pointer = p.variable("pointer", PTR)
    mine = p.thread_local("mine")
    with p.function("increment", PTR) as f:
        f.store(f.parameters[0], f.add(f.load(f.parameters[0], I32), 1))
    with p.function("publish", PTR) as f:
        f.store(pointer, f.parameters[0])

    def act(f: FunctionBuilder, places: list[Value]) -> None:
        for _ in range(draw(st.integers(1, 3))):
            place = draw(st.sampled_from(places))
            match draw(st.integers(0, 4)):
                case 0:
                    f.call("increment", place)
                case 1:
                    f.store(x, f.load(place, I32))
                case 2:
                    f.call("publish", place)
                case 3:
                    other = f.load(pointer)
                    with f.if_(f.ne(other, 0)):
                        f.store(other, 7, I32)
                case 4:
                    with f.if_(f.eq(f.load(place, I32), draw(st.integers(0, 2)))):
                        f.store(place, 3, I32)

    with p.function("worker", PTR) as f:
        act(f, [x, f.parameters[0], f.local("own", I32, 0), f.thread_local(mine)])
    with p.function("main") as f:
        given, kept = f.local("given", I32, 0), f.local("kept", I32, 0)
        thread = f.spawn("worker", draw(st.sampled_from(list[Value]([x, given]))))
        act(f, [x, given, kept, f.thread_local(mine)])
        f.join(thread)
        total = f.add(f.load(given), f.load(kept))
        f.check(f.slt(f.add(total, f.load(x)), draw(st.integers(2, 9))))
    return p.build()


@settings(max_examples=200, deadline=None)
@given(concurrent_programs())
def test_preparing_a_program_keeps_its_executions(program: Program) -> None:
    before = explored(program)
    prepare(program)
    validate(program)
    assert explored(program) == before


def test_phis_are_where_values_meet_and_nowhere_else() -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("main") as f:
        places = [f.local(f"v{number}", I32, number) for number in range(20)]
        for place in places:
            with f.if_(f.eq(f.load(x), 0)):
                f.store(place, 1)
        f.store(x, f.load(places[3]))
    (phi,) = (phi for block in prepare(p.build()).functions["main"].blocks.values() for phi in block.phis)
    assert isinstance(phi, Phi)
    assert phi.result.name == "v3"
