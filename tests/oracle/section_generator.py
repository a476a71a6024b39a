"""Random programs for `axioms_sections`, and these as programs."""

from __future__ import annotations

from random import Random

from mazurka.program.builder import FunctionBuilder, ProgramBuilder
from mazurka.program.instructions import Constant, Value
from mazurka.program.program import Program as Built
from mazurka.program.types import I32, I64
from tests.oracle.axioms import (
    Assume,
    CompareExchange,
    Expression,
    Fence,
    Load,
    Order,
    SkipUnless,
    Store,
    Update,
)
from tests.oracle.axioms_sections import Await, Lock, Operation, Piece, Program, Section, Unlock
from tests.oracle.litmus_generator import (
    BITS,
    FAILURE_ORDERS,
    FENCE_ORDERS,
    LOAD_ORDERS,
    STORE_ORDERS,
    UPDATE_ORDERS,
    WEIGHTS,
)

KINDS = ["load", "store", "add", "exchange", "compare-exchange", "await", "section", "critical"]
MIXES = [
    (4, 4, 1, 0.5, 0.5, 0.5, 3, 0),
    (4, 4, 0.5, 0, 0, 0.3, 0, 3),
    (3, 3, 1, 0.5, 0.5, 1, 2, 2),
    (3, 4, 0, 0, 0, 0.5, 3, 0),
    (1, 2, 1, 0, 0, 0.3, 5, 0.5),
]


def random_program(source: Random, most: int = 6) -> Program:
    """Two or three threads that do up to seven things, to up to three locations and two mutexes."""
    count = source.choice([2, 2, 3, 3, 3])
    locations = ["x", "y", "z"][: source.choice([2, 2, 3, 3])]
    sectioned = source.sample(locations, source.choice([1, 1, 2, 2, 2]))
    if source.random() < 0.15:
        sectioned = locations
    mix, weights = source.choice(MIXES), source.choice(WEIGHTS)
    guards, fences = source.choice([0, 0.3, 0.6]), source.choice([0, 0, 0.3, 0.6])
    branches = source.choice([0, 0, 0.3])
    left = source.randrange(count + 1, most + 1)
    plans = [1] * count
    for _ in range(left - count):
        plans[source.randrange(count)] += 1
    return Program(
        tuple(_thread(source, plan, locations, sectioned, mix, weights, guards, fences, branches) for plan in plans)
    )


def _thread(
    source: Random,
    plan: int,
    locations: list[str],
    sectioned: list[str],
    mix: tuple[float, ...],
    order_weights: tuple[float, float, float, float],
    guards: float,
    fences: float,
    branches: float,
) -> tuple[Operation, ...]:
    operations: list[Operation] = []
    registers: list[str] = []

    def order(orders: list[Order]) -> Order:
        weak, released, strong, plain = order_weights
        middle = orders[1 : orders.index("seq_cst")]
        last = [plain] if "plain" in orders else []
        return source.choices(orders, [weak, *(released / len(middle) for _ in middle), strong, *last])[0]

    def value() -> Expression:
        if registers and source.random() < 0.3:
            return (source.choice(registers), source.choice([0, 1]))
        return source.choice([1, 1, 2])

    def register() -> str:
        registers.append(f"r{len(registers)}")
        return registers[-1]

    def access(kinds: list[str]) -> list[Operation]:
        location = source.choice(locations)
        kind = source.choices(kinds, [mix[KINDS.index(kind)] + 0.01 for kind in kinds])[0]
        match kind:
            case "load":
                return [Load(register(), location, order(LOAD_ORDERS))]
            case "store":
                return [Store(location, value(), order(STORE_ORDERS))]
            case "add":
                operand = value()
                return [Update(register(), location, "add", operand, order(UPDATE_ORDERS))]
            case "exchange":
                operand = value()
                return [Update(register(), location, "exchange", operand, order(UPDATE_ORDERS))]
            case "compare-exchange":
                wanted, new = source.choice([0, 0, 1]), source.choice([1, 2])
                return [CompareExchange(register(), location, wanted, new, order(UPDATE_ORDERS), order(FAILURE_ORDERS))]
            case "await":
                return [Await(register(), location, source.choice([0, 1, 1]), order(LOAD_ORDERS[:3]))]
            case "critical":
                mutex = source.choice(["m", "m", "n"])
                return [Lock(mutex), *access(KINDS[:5]), Unlock(mutex)]
            case _:
                return [section()]

    def section() -> Section:
        chosen = source.sample(sectioned, source.choice([1, len(sectioned), len(sectioned)]))
        known = list(registers)
        pieces: list[Piece] = []
        read: list[str] = []

        def when() -> tuple[str, int] | None:
            return (source.choice(read), source.choice([0, 0, 1])) if read and source.random() < 0.3 else None

        for location in chosen:
            if source.random() < guards:
                condition = when()
                pieces.append(Piece(location, guard=source.choice([0, 1, 1]), when=condition))
                if condition is None:
                    read.append(location)
                if source.random() < 0.5:
                    continue
            condition = when()
            match source.choice(["load", "store", "store", "add", "exchange"]):
                case "load":
                    pieces.append(Piece(location, register()))
                    read.append(location)
                case "store":
                    values: list[Expression] = [1, 2, *((name, 0) for name in known)]
                    written = source.choice(values)
                    pieces.append(Piece(location, None, written, when=condition))
                case "add":
                    name = None if condition is not None or source.random() < 0.5 else register()
                    pieces.append(Piece(location, name, 1, True, when=condition))
                case _:
                    pieces.append(Piece(location, register(), source.choice([1, 2])))
                    read.append(location)
        return Section(tuple(pieces), source.random() < 0.2)

    for number in range(plan):
        if operations and source.random() < fences:
            operations.append(Fence(order([*FENCE_ORDERS])) if source.random() < 0.5 else Fence("seq_cst"))
        if number == plan - 1 and registers and source.random() < branches:
            # Whoever stops, or passes something over, does so before no section, so that all of them are met.
            tested, wanted = source.choice(registers), source.choice([0, 1, 1])
            if source.random() < 0.4:
                operations.append(Assume(tested, wanted))
            else:
                operations.append(SkipUnless(tested, wanted, 1))
            operations += access(KINDS[:6])
        else:
            operations += access(KINDS)
    return tuple(operations)


def to_program(program: Program) -> Built:
    """Main starts the threads and joins them. Each leaves its registers behind in a variable of its own."""
    builder = ProgramBuilder()
    variables: dict[str, Value] = {name: builder.variable(name, I32, 0) for name in program.locations}
    variables |= {name: builder.mutex(name) for name in program.mutexes}
    results = [builder.variable(f"result{thread}", I64, 0) for thread in range(len(program.threads))]
    for thread, operations in enumerate(program.threads):
        with builder.function(f"thread{thread}") as f:
            registers = _write(f, variables, operations)
            packed: Value = Constant(I64, 0)
            for index, name in enumerate(program.registers(thread)):
                wide = f.convert("zext", registers.get(name, Constant(I32, 0)), I64)
                packed = f.add(packed, f.mul(wide, 1 << (BITS * index)))
            f.store(results[thread], packed)
    with builder.function("main") as f:
        for handle in [f.spawn(f"thread{thread}") for thread in range(len(program.threads))]:
            f.join(handle)
    return builder.build()


def _write(f: FunctionBuilder, variables: dict[str, Value], operations: tuple[Operation, ...]) -> dict[str, Value]:
    registers: dict[str, Value] = {}
    jumps: dict[int, list[tuple[str, dict[str, Value]]]] = {}
    zero = Constant(I32, 0)

    def value(expression: Expression) -> Value:
        if isinstance(expression, int):
            return Constant(I32, expression)
        return f.add(registers.get(expression[0], zero), expression[1])

    def arrive(position: int) -> None:
        nonlocal registers
        if position in jumps:
            arriving = [*jumps[position], (f.here, registers)]
            f.block(f"at{position}")
            names = sorted({name for _, values in arriving for name in values})
            registers = {
                name: f.phi(I32, *((block, values.get(name, zero)) for block, values in arriving)) for name in names
            }

    for position, operation in enumerate(operations):
        arrive(position)
        match operation:
            case Load(register, at, order):
                registers = registers | {register: f.load(variables[at], ordering=order)}
            case Await(register, at, wanted, order):
                with f.atomic(guarded=True):
                    found = f.load(variables[at], ordering=order)
                    f.assume(f.eq(found, wanted), "loop")
                registers = registers | {register: found}
            case Store(at, expression, order):
                f.store(variables[at], value(expression), ordering=order)
            case Update(name, at, op, operand, order):
                assert name is not None
                registers = registers | {name: f.update(op, variables[at], value(operand), ordering=order)}
            case CompareExchange(register, at, expected, desired, order, failure):
                old, _ = f.compare_exchange(variables[at], expected, desired, ordering=order, failure=failure)
                registers = registers | {register: old}
            case Fence(order):
                f.fence(order)
            case SkipUnless(register, wanted, count):
                target = position + 1 + count
                condition = f.eq(registers.get(register, zero), wanted)
                jumps.setdefault(target, []).append((f.here, registers))
                f.branch(condition, f"from{position}", f"at{target}")
                f.block(f"from{position}")
            case Assume(register, wanted):
                f.assume(f.eq(registers.get(register, zero), wanted))
            case Lock(mutex):
                f.lock(variables[mutex])
            case Unlock(mutex):
                f.unlock(variables[mutex])
            case Section():
                registers = registers | _section(f, variables, operation, registers)
    arrive(len(operations))
    return registers


def _section(
    f: FunctionBuilder, variables: dict[str, Value], section: Section, registers: dict[str, Value]
) -> dict[str, Value]:
    zero = Constant(I32, 0)
    found: dict[str, Value] = {}

    def value(expression: Expression) -> Value:
        if isinstance(expression, int):
            return Constant(I32, expression)
        return f.add(registers.get(expression[0], zero), expression[1])

    olds: dict[str, Value] = {}

    def run(piece: Piece) -> None:
        at = piece.location
        if piece.guard is not None:
            old = f.load(variables[at])
            if piece.when is None:
                olds[at] = old
            holds = f.eq(old, piece.guard)
            if section.assumes:
                f.assume(holds)
            else:
                f.await_(holds, "variable", variables[at])
        elif piece.adds:
            assert piece.written is not None
            updated = f.update("add", variables[at], value(piece.written))
            if piece.register is not None:
                found[piece.register] = updated
        else:
            if piece.register is not None:
                found[piece.register] = olds[at] = f.load(variables[at])
            if piece.written is not None:
                f.store(variables[at], value(piece.written))

    with f.atomic():
        for piece in section.pieces:
            if piece.when is None:
                run(piece)
            else:
                with f.if_(f.eq(olds[piece.when[0]], piece.when[1])):
                    run(piece)
    return found
