"""Random litmus tests, and litmus tests as programs."""

from __future__ import annotations

from random import Random
from typing import Literal

from mazurka.program.builder import FunctionBuilder, ProgramBuilder
from mazurka.program.instructions import Constant, GlobalAddress, Value
from mazurka.program.program import Program
from mazurka.program.types import I32, I64
from tests.oracle.axioms import (
    Assume,
    CompareExchange,
    Expression,
    Fence,
    Litmus,
    Load,
    Operation,
    Order,
    Outcome,
    SkipUnless,
    Store,
    Update,
)

LOAD_ORDERS: list[Order] = ["relaxed", "acquire", "seq_cst", "plain"]
STORE_ORDERS: list[Order] = ["relaxed", "release", "seq_cst", "plain"]
UPDATE_ORDERS: list[Order] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"]
FAILURE_ORDERS: list[Order] = ["relaxed", "acquire", "seq_cst"]
FENCE_ORDERS: list[Order] = ["acquire", "release", "acq_rel", "seq_cst"]

# How often each of an access's orders is taken, from the weakest on: different kinds of trouble.
WEIGHTS = [
    (8, 1, 1, 0.3),  # mostly relaxed
    (3, 6, 1, 0.3),  # mostly release and acquire
    (2, 2, 6, 0.3),  # mostly seq_cst
    (1, 1, 16, 0),  # nearly all of them: one that is not makes the difference
    (3, 3, 3, 1),
    (2, 2, 1, 3),  # plain
]
Kind = Literal["load", "store", "add", "exchange", "compare-exchange"]
KINDS: list[Kind] = ["load", "store", "add", "exchange", "compare-exchange"]
KIND_WEIGHTS = [(5, 5, 1, 0.5, 0.5), (4, 6, 0, 0, 0), (2, 3, 2, 2, 2), (1, 1, 3, 1, 3)]

Plan = list[tuple[list[Kind], str]]
"""What a thread does: the kinds that each of its accesses may be of, and the location."""


def random_litmus(source: Random) -> Litmus:
    """Two to four threads that make up to seven accesses or so, to up to three locations."""
    plans = random_cycle(source) if source.random() < 0.6 else random_plans(source)
    order_weights, kind_weights = source.choice(WEIGHTS), source.choice(KIND_WEIGHTS)
    fence_orders: list[Order] = ["seq_cst"] if source.random() < 0.5 else [*FENCE_ORDERS, "seq_cst"]
    fences, branches = source.choice([0, 0, 0.3, 0.8]), source.choice([0, 0, 0.2, 0.4])
    return Litmus(
        tuple(_thread(source, plan, order_weights, kind_weights, fence_orders, fences, branches) for plan in plans)
    )


def random_fenced_litmus(source: Random) -> Litmus:
    """The same, but what orders it is mostly fences that are seq_cst, among accesses some of which are, too."""
    plans = random_cycle(source) if source.random() < 0.6 else random_plans(source)
    order_weights, kind_weights = source.choice([WEIGHTS[0], WEIGHTS[0], WEIGHTS[2], WEIGHTS[4]]), KIND_WEIGHTS[0]
    fence_orders: list[Order] = ["seq_cst", "seq_cst", "seq_cst", source.choice(FENCE_ORDERS)]
    fences, branches = source.choice([0.6, 0.9]), source.choice([0, 0, 0.2])
    return Litmus(
        tuple(_thread(source, plan, order_weights, kind_weights, fence_orders, fences, branches) for plan in plans)
    )


def random_plans(source: Random) -> list[Plan]:
    """Anything."""
    count = source.choice([2, 2, 3, 3, 4])
    locations = ["x", "y", "z"][: source.choice([1, 2, 2, 2, 3, 3])]
    plans: list[Plan] = [[(KINDS, source.choice(locations))] for _ in range(count)]
    # Where everything is about one location, there is much of it.
    for _ in range(source.choice([6, 5, 5, 4] if len(locations) == 1 else [7, 7, 6, 5]) - count):
        source.choice(plans).append((KINDS, source.choice(locations)))
    return plans


def random_cycle(source: Random) -> list[Plan]:
    """What the literature's tests are: each thread goes from one location to the next, and they make a circle, which
    some model forbids. Perhaps somebody else writes where two of them meet, and perhaps there is more."""
    locations = ["x", "y", "z"][: source.choice([2, 2, 2, 3])]
    writing: list[Kind] = ["store", "store", "add", "exchange"]
    reading: list[Kind] = ["load", "load", "load", "add", "compare-exchange"]
    first: list[list[Kind]] = []
    second: list[list[Kind]] = []
    others: list[Plan] = []
    for location in locations:
        together = len(locations) + len(others) < 4 and source.random() < 0.3
        if together:
            others.append([(writing, location)])
        here, there = source.choice([(reading, writing), (writing, reading), (reading, reading), (writing, writing)])
        if here is there is reading and not together:
            here = writing
        second.append(here)
        first.append(there)
    plans: list[Plan] = [
        [(first[index - 1], locations[index - 1]), (second[index], locations[index])] for index in range(len(locations))
    ]
    plans += others
    for _ in range(source.choice([0, 0, 1, 1, 2])):
        if sum(map(len, plans)) < 7:
            plan = source.choice(plans)
            plan.insert(source.randrange(len(plan) + 1), (KINDS, source.choice(locations)))
    source.shuffle(plans)
    return plans


def _thread(
    source: Random,
    plan: Plan,
    order_weights: tuple[float, float, float, float],
    kind_weights: tuple[float, ...],
    fence_orders: list[Order],
    fences: float,
    branches: float,
) -> tuple[Operation, ...]:
    """`fences` and `branches` say how often there is one between two accesses."""
    operations: list[Operation] = []
    registers: list[str] = []

    def order(orders: list[Order]) -> Order:
        weak, released, strong, plain = order_weights
        middle = orders[1 : orders.index("seq_cst")]
        weights = [weak, *(released / len(middle) for _ in middle), strong, *([plain] if "plain" in orders else [])]
        return source.choices(orders, weights)[0]

    def value() -> Expression:
        if registers and source.random() < 0.3:
            return (source.choice(registers), source.choice([0, 1]))
        return source.choice([1, 1, 2])

    def register() -> str:
        """Mostly a new one."""
        if registers and source.random() < 0.1:
            return source.choice(registers)
        registers.append(f"r{len(registers)}")
        return registers[-1]

    def access(kinds: list[Kind], location: str) -> Operation:
        # A small constant, so that a choice of kinds always leaves one.
        kind = source.choices(kinds, [kind_weights[KINDS.index(kind)] + 0.01 for kind in kinds])[0]
        match kind:
            case "load":
                return Load(register(), location, order(LOAD_ORDERS))
            case "store":
                return Store(location, value(), order(STORE_ORDERS))
            case "add" | "exchange":
                operand = value()
                name = None if source.random() < 0.2 else register()
                return Update(name, location, kind, operand, order(UPDATE_ORDERS))
            case "compare-exchange":
                expected, desired = source.choice([0, 0, 1]), source.choice([1, 2])
                orders = order(UPDATE_ORDERS), order(FAILURE_ORDERS)
                return CompareExchange(register(), location, expected, desired, *orders)

    for kinds, location in plan:
        if operations and source.random() < fences:
            operations.append(Fence(source.choice(fence_orders)))
        if registers and source.random() < branches:
            tested, wanted = source.choice(registers), source.choice([0, 1, 1])
            if source.random() < 0.3:
                operations.append(Assume(tested, wanted))
            else:
                operations.append(SkipUnless(tested, wanted, source.choice([1, 1, 2, 3])))
        operations.append(access(kinds, location))
    return tuple(operations)


# ------------------------------------------------------------------------------------------------------ programs

BITS = 10  # of each register that a thread leaves behind


def to_program(litmus: Litmus, outcome: Outcome | None = None, *, alike: bool = False) -> Program:
    """Main starts the threads and joins them; if `alike`, those that do the same have one function. With an
    `outcome`, it fails where an execution ends with that one: each thread leaves its registers behind in one
    variable, which only main looks at; what main looks at after joins is decided by what went before, so this adds
    no executions."""
    builder = ProgramBuilder()
    variables = {name: builder.variable(name, I32, 0) for name in litmus.locations}
    results = [builder.variable(f"result{thread}", I64, 0) for thread in range(len(litmus.threads))]
    functions = [litmus.threads.index(each) if alike else thread for thread, each in enumerate(litmus.threads)]
    for thread, operations in enumerate(litmus.threads):
        if functions[thread] != thread:
            continue
        with builder.function(f"thread{thread}") as f:
            registers = _write(f, variables, operations)
            if outcome is not None:
                packed: Value = Constant(I64, 0)
                for index, name in enumerate(litmus.registers(thread)):
                    wide = f.convert("zext", registers.get(name, Constant(I32, 0)), I64)
                    packed = f.add(packed, f.mul(wide, 1 << (BITS * index)))
                f.store(results[thread], packed)
    with builder.function("main") as f:
        for handle in [f.spawn(f"thread{thread}") for thread in functions]:
            f.join(handle)
        if outcome is not None:
            seen: list[Value] = [
                f.eq(f.load(result), _packed(values)) for result, values in zip(results, outcome.registers, strict=True)
            ]
            seen += [
                f.eq(f.load(variables[name]), value)
                for name, value in zip(litmus.locations, outcome.memory, strict=True)
            ]
            everything = seen[0]
            for part in seen[1:]:
                everything = f.and_(everything, part)
            f.check(f.not_(everything), "this outcome")
    return builder.build()


def _packed(values: tuple[int, ...]) -> int:
    assert all(0 <= value < 1 << BITS for value in values) and len(values) * BITS <= 64
    return sum(value << (BITS * index) for index, value in enumerate(values))


def _write(
    f: FunctionBuilder, variables: dict[str, GlobalAddress], operations: tuple[Operation, ...]
) -> dict[str, Value]:
    """The operations of a thread; the result is its registers behind them."""
    registers: dict[str, Value] = {}
    # Where jumps come from, by the positions that they go to, and the registers there.
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
            case Load(register, location, order):
                registers = registers | {register: f.load(variables[location], ordering=order)}
            case Store(location, expression, order):
                f.store(variables[location], value(expression), ordering=order)
            case Update(None, location, op, operand, order):
                f.update(op, variables[location], value(operand), used=False, ordering=order)
            case Update(name, location, op, operand, order):
                assert name is not None
                registers = registers | {name: f.update(op, variables[location], value(operand), ordering=order)}
            case CompareExchange(register, location, expected, desired, order, failure):
                old, _ = f.compare_exchange(variables[location], expected, desired, ordering=order, failure=failure)
                registers = registers | {register: old}
            case Fence(order):
                f.fence(order)
            case SkipUnless(register, wanted, count):
                target = min(position + 1 + count, len(operations))
                condition = f.eq(registers.get(register, zero), wanted)
                if target > position + 1:
                    jumps.setdefault(target, []).append((f.here, registers))
                    f.branch(condition, f"from{position}", f"at{target}")
                    f.block(f"from{position}")
            case Assume(register, wanted):
                f.assume(f.eq(registers.get(register, zero), wanted))
    arrive(len(operations))
    return registers
