"""Random small programs, as plain data that Hypothesis can shrink and a person can read."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from hypothesis import strategies as st

from mazurka.program.builder import FunctionBuilder, ProgramBuilder
from mazurka.program.instructions import Constant, GlobalAddress, Ordering, Predicate, Register, UpdateOp, Value
from mazurka.program.program import Program
from mazurka.program.types import I8, I32, PTR

VARIABLES = ["x", "y", "z", "w"]
MUTEXES = ["m", "n"]
# fetch operations, those that commute with each other next to each other
UPDATES = ["add", "sub", "or", "and", "xor", "max", "exchange"]

# what an await can do once its condition holds
ACCESSES = ["load", "compare-exchange", *UPDATES]
# by what a section is held up
GUARDS = ["assume", "await"]
PREDICATES: list[Predicate] = ["eq", "ne", "slt", "sge", "ult", "ugt"]

# of all operations but those that contain others; common ones more often
KINDS = [
    "load", "load", "store", "store", "store last", "update", "update", "compare-exchange", "await load", "await",
    "await", "await exchange", "await compare-exchange", "await update", "byte store", "byte load", "lock", "section",
    "section if", "section choose", "section await if", "choose loaded", "await both", "wait", "signal", "choose",
    "assume last", "check last", "publish", "use published", "free published", "exit",
]  # fmt: skip

Operation = tuple[Any, ...]
Condition = tuple[Any, ...]


@dataclass(frozen=True)
class Shape:
    """A program: what each thread does. Thread 0 is main, which creates the others first and joins some at the end;
    `nested` threads are created by the thread before them instead. `library`: its sections count as those of library
    models, which is what locks and joins are in programs in C. `together`: the variables are parts of one object.
    `alike`: threads that do the same have one function."""

    threads: tuple[tuple[Operation, ...], ...]
    nested: bool = False
    joined: int = 0
    library: bool = False
    together: bool = False
    alike: bool = False


def conditions(depth: int = 1) -> st.SearchStrategy[Condition]:
    """What an await can wait for: a condition on the value that it finds, and on what was read before."""
    predicate, value = st.sampled_from(PREDICATES), st.integers(0, 3)
    simple: list[st.SearchStrategy[Condition]] = [
        st.tuples(predicate, value),
        st.tuples(st.just("mask"), value, predicate, value),
        st.tuples(st.just("plus"), value, predicate, value),
        st.tuples(st.just("last"), predicate),
    ]
    if depth == 0:
        return st.one_of(simple)
    inner = conditions(depth - 1)
    return st.one_of(*simple, st.tuples(st.just("and"), inner, inner), st.tuples(st.just("or"), inner, inner))


def random_condition(source: random.Random, depth: int = 1) -> Condition:
    predicate, value = source.choice(PREDICATES), source.randrange(4)
    match source.choice(["compare", "compare", "mask", "plus", "last"] + ["and", "or"] * depth):
        case "compare":
            return (predicate, value)
        case "last":
            return ("last", predicate)
        case "mask" | "plus" as kind:
            return (kind, source.randrange(1, 4), predicate, value)
        case kind:
            return (kind, random_condition(source, depth - 1), random_condition(source, depth - 1))


def section_accesses() -> st.SearchStrategy[Operation]:
    variable, value = st.sampled_from(VARIABLES[:3]), st.integers(0, 2)
    return st.one_of(
        st.tuples(st.just("load"), variable),
        st.tuples(st.just("store"), variable, value),
        st.tuples(st.just("store last"), variable),
        st.tuples(st.just("update"), st.sampled_from(UPDATES), variable, value, st.booleans()),
        st.tuples(st.just("compare-exchange"), variable, value, value),
    )


def section_parts(depth: int = 2) -> st.SearchStrategy[Operation]:
    """What an atomic section can consist of. Which guards it meets and what it touches depends on what it reads."""
    variable, value, guard = st.sampled_from(VARIABLES[:3]), st.integers(0, 2), st.sampled_from(GUARDS)
    simple: list[st.SearchStrategy[Operation]] = [
        section_accesses(),
        st.tuples(st.just("guard"), guard, variable, conditions(0)),
        st.tuples(st.just("guard either"), guard, variable, value, variable, value),
    ]
    if depth == 0:
        return st.one_of(simple)
    inner = st.lists(section_parts(depth - 1), max_size=2).map(tuple)
    return st.one_of(*simple, st.tuples(st.just("if loaded"), variable, value, inner, inner))


def sections() -> st.SearchStrategy[Operation]:
    return st.tuples(st.just("atomic"), st.lists(section_parts(), min_size=1, max_size=4).map(tuple))


def operations(depth: int = 1) -> st.SearchStrategy[Operation]:
    """What a thread can do in a step or a few. `depth` bounds the nesting of branches and critical sections."""
    variable, mutex = st.sampled_from(["x", "x", "x", "y", "y", "z", "w"]), st.sampled_from(MUTEXES)
    value = st.integers(0, 2)
    simple: list[st.SearchStrategy[Operation]] = [
        st.tuples(st.just("load"), variable),
        st.tuples(st.just("store"), variable, value),
        st.tuples(st.just("store last"), variable),
        st.tuples(st.just("update"), st.sampled_from(UPDATES), variable, value, st.booleans()),
        st.tuples(st.just("compare-exchange"), variable, value, value),
        st.tuples(st.just("await load"), variable, value),
        st.tuples(st.just("await exchange"), variable, value, value),
        st.tuples(st.just("await compare-exchange"), variable, value, value),
        st.tuples(st.just("await update"), variable, value),
        st.tuples(st.just("await"), st.sampled_from(ACCESSES), variable, value, conditions()),
        st.tuples(st.just("byte store"), variable, value),
        st.tuples(st.just("byte load"), variable),
        st.tuples(st.just("lock"), mutex),
        st.tuples(st.just("section"), variable, variable, value),
        st.tuples(st.just("section if"), variable, variable, value),
        st.tuples(st.just("section choose"), variable),
        st.tuples(st.just("section await if"), variable, variable, value),
        sections(),
        st.tuples(st.just("choose loaded"), variable, variable),
        st.tuples(st.just("await both"), value),
        st.tuples(st.just("wait"), mutex),
        st.tuples(st.just("signal")),
        st.tuples(st.just("choose"), st.integers(1, 3)),
        st.tuples(st.just("assume last"), value),
        st.tuples(st.just("check last"), value),
        st.tuples(st.just("publish")),
        st.tuples(st.just("use published")),
        st.tuples(st.just("free published")),
        st.tuples(st.just("exit")),
    ]
    if depth == 0:
        return st.one_of(simple)
    inner = st.lists(operations(depth - 1), min_size=1, max_size=2).map(tuple)
    return st.one_of(
        *simple,
        st.tuples(st.just("critical"), mutex, inner),
        st.tuples(st.just("trylock"), mutex, inner),
        st.tuples(st.just("if last"), value, inner),
    )


def shapes(
    operation: st.SearchStrategy[Operation] | None = None, max_threads: int = 4, max_operations: int = 5
) -> st.SearchStrategy[Shape]:
    """Programs of 2 to `max_threads` threads; the more threads, the less each does."""
    does = operations() if operation is None else operation

    def with_threads(count: int) -> st.SearchStrategy[Shape]:
        longest = max(1, min(max_operations, 8 // (count - 1)))
        body = st.lists(does, min_size=0, max_size=longest).map(tuple)
        main = st.lists(does, min_size=0, max_size=1).map(tuple)
        others = st.lists(body, min_size=count - 1, max_size=count - 1)
        threads = st.tuples(main, others).map(lambda parts: (parts[0], *parts[1]))
        joined = st.integers(0, count - 1)
        return st.builds(Shape, threads, st.booleans(), joined, library=st.booleans(), together=st.booleans())

    return st.integers(2, max_threads).flatmap(with_threads)


def section_shapes() -> st.SearchStrategy[Shape]:
    """Programs of atomic sections and plain accesses."""
    return shapes(st.one_of(sections(), section_accesses()))


def random_shape(source: random.Random) -> Shape:
    """The same programs without Hypothesis: many more in the same time, and evenly spread."""

    variables = VARIABLES[: source.choice([2, 2, 2, 3, 4])]

    def operation(depth: int) -> Operation:
        variable, mutex, value = source.choice(variables), source.choice(MUTEXES), source.randrange(3)
        nested = ["critical", "critical", "trylock", "if last"] if depth else []
        kind = source.choice(KINDS + nested)
        match kind:
            case "load" | "byte load" | "store last" | "section choose":
                return (kind, variable)
            case "store" | "byte store" | "await load" | "await update":
                return (kind, variable, value)
            case "update":
                return (kind, source.choice(UPDATES), variable, value, source.random() < 0.4)
            case "compare-exchange" | "await exchange" | "await compare-exchange":
                return (kind, variable, value, source.randrange(3))
            case "await":
                return (kind, source.choice(ACCESSES), variable, value, random_condition(source))
            case "choose loaded":
                return (kind, variable, source.choice(variables))
            case "section" | "section if" | "section await if":
                return (kind, variable, source.choice(variables), value)
            case "lock" | "wait":
                return (kind, mutex)
            case "choose":
                return (kind, source.randrange(1, 4))
            case "assume last" | "check last" | "await both":
                return (kind, value)
            case "critical" | "trylock" | "if last":
                body = tuple(operation(depth - 1) for _ in range(source.randrange(1, 3)))
                return (kind, value if kind == "if last" else mutex, body)
            case _:
                return (kind,)

    count = source.choice([2, 2, 3, 3, 4])
    threads: list[list[Operation]] = [[] for _ in range(count)]
    for _ in range(source.randrange(3, 10)):
        index = source.randrange(count)
        threads[index if index or not threads[0] else source.randrange(1, count)].append(operation(1))
    nested, joined, library = source.random() < 0.2, source.randrange(count), source.random() < 0.7
    return Shape(tuple(map(tuple, threads)), nested, joined, library)


def random_access_shape(source: random.Random) -> Shape:
    """Plain accesses to several variables by several threads, which can stop at what they read."""
    variables = VARIABLES[: source.choice([2, 3, 4, 4])]

    def operation() -> list[Operation]:
        variable, value = source.choice(variables), source.randrange(3)
        match source.choice(["load", "store", "store", "assume", "assume", "update"]):
            case "load":
                return [("load", variable)]
            case "store":
                return [("store", variable, value)]
            case "assume":
                return [("load", variable), ("assume last", source.choice([0, 0, 0, value]))]
            case _:
                return [("update", source.choice(UPDATES), variable, value, source.random() < 0.5)]

    count = source.choice([4, 5])
    threads: list[list[Operation]] = [[] for _ in range(count)]
    for _ in range(source.randrange(4, 9)):
        threads[source.randrange(1, count)] += operation()
    return Shape(tuple(map(tuple, threads)))


def random_await_shape(source: random.Random) -> Shape:
    """Few variables, several commuting updates of each, and awaits of all kinds between them."""

    def operation() -> Operation:
        variable, value = source.choice(["x", "x", "x", "y"]), source.randrange(4)
        match source.choice(["update", "update", "update", "await", "await", "await", "load", "store", "update used"]):
            case "update":
                return ("update", source.choice(["add", "add", "add", "sub", "xor", "or"]), variable, value, False)
            case "await":
                return ("await", source.choice(["load", "load", *ACCESSES]), variable, value, random_condition(source))
            case "load":
                return ("load", variable)
            case "store":
                return ("store", variable, value)
            case _:
                return ("update", source.choice(["add", "sub"]), variable, value, True)

    count = source.choice([3, 4, 4, 5])
    threads: list[list[Operation]] = [[] for _ in range(count)]
    for _ in range(source.randrange(count, count + 4)):
        threads[source.randrange(count)].append(operation())
    return Shape(tuple(map(tuple, threads)), joined=source.choice([0, 0, count - 1]))


# The parts of a section, and what stands between sections, for different kinds of trouble.
SECTION_MIXES = [
    (["if guard", "if guard", "guard", "store"], ["store", "store", "update", "load", "compare-exchange"]),
    (["if guard", "guard", "either", "store"], ["store", "store", "load", "critical"]),
    (["if guard", "if guard", "update", "update"], ["update", "update", "store", "load"]),
    (["if store", "if store", "if compare-exchange", "store", "load"], ["compare-exchange", "store", "load"]),
    (["store", "store", "update", "load", "store last"], ["store", "update", "load", "await"]),
    (["nested", "if store", "guard", "update", "either"], ["store", "byte store", "update used", "load"]),
]


def random_section_shape(source: random.Random) -> Shape:
    """Atomic sections that touch several variables, and that meet guards or touch things only where they find some
    values."""
    variables = VARIABLES[: source.choice([2, 2, 3])]
    section_kinds, other_kinds = source.choice(SECTION_MIXES)
    library, together = source.random() < 0.5, source.random() < 0.5
    guards = ["await"] if library else GUARDS  # the models of the library assume nothing

    def simple(kind: str) -> Operation:
        variable, value = source.choice(variables), source.choice([0, 1, 1, 2])
        match kind:
            case "load" | "store last":
                return (kind, variable)
            case "store" | "byte store":
                return (kind, variable, value)
            case "update" | "update used":
                operation = source.choice(["add", "add", "add", "sub", "or", "xor"])
                return ("update", operation, variable, source.randrange(1, 3), kind == "update used")
            case "compare-exchange":
                return (kind, variable, source.randrange(2), value)
            case "await":
                access = source.choice(["load", "load", *ACCESSES])
                return (kind, access, variable, value, random_condition(source, 0))
            case "critical":
                return (kind, source.choice(MUTEXES), (simple(source.choice(["load", "store", "update"])),))
            case _:
                raise AssertionError(kind)

    def part(kind: str) -> Operation:
        guard, variable, value = source.choice(guards), source.choice(variables), source.randrange(2)
        match kind.split():
            case ["guard"]:
                condition = random_condition(source, 0) if source.random() < 0.2 else ("eq", value)
                return ("guard", guard, variable, condition)
            case ["either"]:
                return ("guard either", guard, variable, value, source.choice(variables), source.randrange(2))
            case ["if", inner]:
                otherwise = (part(source.choice(["load", inner])),) if source.random() < 0.4 else ()
                return ("if loaded", variable, value, (part(inner),), otherwise)
            case ["nested"]:
                then = tuple(part(source.choice(section_kinds)) for _ in range(source.randrange(3)))
                return ("if loaded", variable, value, then, ())
            case _:
                return simple(kind)

    def section() -> Operation:
        return ("atomic", tuple(part(source.choice(section_kinds)) for _ in range(source.choice([1, 1, 2, 2, 3]))))

    count = source.choice([3, 4, 4])
    threads: list[list[Operation]] = [[] for _ in range(count)]
    for index in [*range(1, count), *source.choices(range(count), k=source.randrange(1, 4))]:
        threads[index].append(section() if source.random() < 0.5 else simple(source.choice(other_kinds)))
    joined = source.choice([0, 0, 0, count - 1])
    return Shape(tuple(map(tuple, threads)), joined=joined, library=library, together=together)


# The orders that an access can have; common ones more often.
LOAD_ORDERS = ["relaxed", "relaxed", "acquire", "seq_cst"]
STORE_ORDERS = ["relaxed", "relaxed", "release", "seq_cst"]
UPDATE_ORDERS = ["relaxed", "relaxed", "acquire", "release", "acq_rel", "seq_cst"]
READING_UPDATES = ["add", "exchange", "compare-exchange"]


def random_order_shape(source: random.Random) -> Shape:
    """Threads that access data plainly and tell each other about it by flags, with all memory orders, by awaits,
    updates, locks and sections. What should be atomic is not, now and then, and the other way round."""
    data, flags = source.choice([["x"], ["x", "y"]]), source.choice([["z"], ["z", "w"], ["z", "w"]])
    mixed = source.choice([0.0, 0.1, 0.3])

    def access(plain: bool) -> Operation:
        if plain != (source.random() < mixed):
            return (source.choice(["load", "store"]), "plain")
        kind = source.choice(["load", "load", "store", "store", "store", "quiet add", "quiet add", *READING_UPDATES])
        orders = LOAD_ORDERS if kind == "load" else STORE_ORDERS if kind == "store" else UPDATE_ORDERS
        return (kind, source.choice(orders))

    def operation(depth: int) -> Operation:
        value = source.choice([0, 1, 1, 1, 2])
        kinds = ["data"] * 6 + ["flag"] * 5 + ["await"] * 3 + ["section", "free"] + ["critical", "if"] * depth
        match source.choice(kinds):
            case "data":
                return ("ordered", *access(True), source.choice(data), value)
            case "flag":
                return ("ordered", *access(False), source.choice(flags), value)
            case "await":
                kind = source.choice(["load", "load", "load", *READING_UPDATES])
                order = source.choice([*LOAD_ORDERS, "plain"] if kind == "load" else UPDATE_ORDERS)
                condition = (source.choice(["eq", "ne", "ne"]), source.choice([0, 0, 1]))
                # Rounds in vain change nothing.
                if kind == "add":
                    value = 0
                elif kind == "exchange":
                    condition = ("ne", value)
                elif kind == "compare-exchange" and condition[0] == "eq":
                    value = condition[1]
                elif kind == "compare-exchange":
                    value = condition[1] + 1
                return ("await ordered", kind, order, source.choice([*flags, *flags, *data]), value, condition)
            case "section":
                return ("section", source.choice(flags), source.choice([*flags, *data]), value)
            case "free":
                return (source.choice(["publish", "use published", "free published"]),)
            case "critical":
                return ("critical", source.choice(MUTEXES), tuple(operation(0) for _ in range(source.randrange(1, 3))))
            case _:
                return ("if last", value, tuple(operation(0) for _ in range(source.randrange(1, 3))))

    count = source.choice([2, 3, 3, 4])
    threads: list[list[Operation]] = [[] for _ in range(count)]
    for _ in range(source.randrange(count + 1, 10)):
        threads[source.choice([0, *range(1, count), *range(1, count)])].append(operation(1))
    return Shape(tuple(map(tuple, threads)), source.random() < 0.15, source.randrange(count), source.random() < 0.5)


FENCE_ORDERS = ["acquire", "release", "acq_rel", "seq_cst"]
FAILURE_ORDERS = ["relaxed", "relaxed", "acquire", "seq_cst"]


def random_fence_shape(source: random.Random) -> Shape:
    """Threads that pass on messages about data by flags, mostly relaxed ones, with fences of all kinds before and
    after: whole hand-overs, which work, and parts of them, which work by luck."""
    data, flags = ["x"], source.choice([["z"], ["z"], ["z", "w"]])
    weak = source.choice([0.6, 0.9])  # how often an access is relaxed
    fences = source.choice([0.5, 0.8])  # how often there is a fence where one might be

    def order(orders: list[str]) -> str:
        return "relaxed" if source.random() < weak else source.choice(orders)

    def fence(*orders: str) -> list[Operation]:
        return [("fence", source.choice([*orders, *orders, *FENCE_ORDERS]))] if source.random() < fences else []

    def touch() -> Operation:
        return ("ordered", source.choice(["load", "store"]), "plain", source.choice(data), 1)

    def send() -> list[Operation]:
        flag, value = source.choice(flags), source.choice([1, 1, 2])
        match source.choice(["store", "store", "quiet add", "exchange", "add", "swap"]):
            case "store":
                told: Operation = ("ordered", "store", order(STORE_ORDERS), flag, value)
            case "swap":
                told = ("ordered swap", order(UPDATE_ORDERS), source.choice(FAILURE_ORDERS), flag, value - 1, value)
            case kind:
                told = ("ordered", kind, order(UPDATE_ORDERS), flag, value)
        return [*fence("release"), told]

    def receive() -> list[Operation]:
        flag, value = source.choice(flags), source.choice([1, 1, 2])
        kind = source.choice(["load", "await", "await", "exchange", "add", "swap", "await swap"])
        match kind:
            case "load":
                got: Operation = ("ordered", "load", order(LOAD_ORDERS), flag, 0)
            case "await":
                got = ("await ordered", "load", order(LOAD_ORDERS), flag, 0, source.choice([("eq", value), ("ne", 0)]))
            case "swap":
                got = ("ordered swap", order(UPDATE_ORDERS), source.choice(FAILURE_ORDERS), flag, value, value + 1)
            case "await swap":
                return [
                    (kind, order(UPDATE_ORDERS), source.choice(FAILURE_ORDERS), flag, value, value + 1),
                    *fence("acquire"),
                    touch(),
                ]
            case _:
                got = ("ordered", kind, order(UPDATE_ORDERS), flag, 1)
        inside = [*fence("acquire"), touch()]
        if kind != "await" and source.random() < 0.8:
            return (
                [got, ("if last", value, tuple(inside))]
                if source.random() < 0.7
                else [got, *fence("acquire"), ("if last", value, tuple(inside))]
            )
        return [got, *inside]

    def part() -> list[Operation]:
        match source.choice(["send", "send", "receive", "receive", "both", "touch", "fence"]):
            case "send":
                return [*([touch()] if source.random() < 0.7 else []), *send()]
            case "receive":
                return receive()
            case "both":
                return [*receive(), *send()]
            case "touch":
                return [touch()]
            case _:
                return [("fence", source.choice(FENCE_ORDERS))]

    count = source.choice([3, 3, 3, 4])
    threads: list[list[Operation]] = [[] for _ in range(count)]
    for index in [*range(1, count), *source.choices(range(count), k=source.choice([0, 1, 2]))]:
        threads[index] += part()
    return Shape(tuple(map(tuple, threads)), source.random() < 0.2, source.randrange(count))


def build(shape: Shape, finish: Callable[[FunctionBuilder, dict[str, Value]], None] | None = None) -> Program:
    """The program of a shape; `finish` writes what main does last."""
    builder = ProgramBuilder()
    variables: dict[str, Value] = {}
    if shape.together:
        words = builder.array("words", I32, [0] * len(VARIABLES)).name
        variables |= {name: GlobalAddress(words, I32.size * index) for index, name in enumerate(VARIABLES)}
    else:
        variables |= {name: builder.variable(name, I32, 0) for name in VARIABLES}
    variables |= {name: builder.mutex(name) for name in MUTEXES}
    variables |= {name: builder.variable(name, I32, 0) for name in ("waiters", "signals")}
    variables["published"] = builder.variable("published", PTR, 0)
    functions = [
        shape.threads.index(body, 1) if shape.alike else index for index, body in enumerate(shape.threads) if index
    ]
    for index, body in enumerate(shape.threads):
        if index == 0 or index not in functions:
            continue
        with builder.function(f"thread{index}") as f:
            if shape.nested and index + 1 < len(shape.threads):
                f.spawn(f"thread{index + 1}")
            _Body(f, variables).run(body)
    with builder.function("main") as f:
        created = range(1, 2 if shape.nested else len(shape.threads))
        handles = [f.spawn(f"thread{functions[index - 1]}") for index in created if index < len(shape.threads)]
        _Body(f, variables).run(shape.threads[0])
        for handle in handles[: shape.joined]:
            f.join(handle)
        if finish is not None:
            finish(f, variables)
    for function in builder.program.functions.values():
        function.library = shape.library
    return builder.build()


class _Body:
    """Writes operations into a function. `last` is the value that was read last."""

    def __init__(self, f: FunctionBuilder, variables: dict[str, Value]) -> None:
        self.f = f
        self.variables = variables
        self.last: Value = Constant(I32, 0)

    def run(self, body: tuple[Operation, ...]) -> None:
        for operation in body:
            self.write(operation)

    def write(self, operation: Operation) -> None:
        f, variables = self.f, self.variables
        match operation:
            case ("load", name):
                self.last = f.load(variables[name])
            case ("store", name, value):
                f.store(variables[name], value)
            case ("store last", name):
                f.store(variables[name], self.last)
            case ("update", op, name, value, True):
                self.last = f.update(op, variables[name], value)
            case ("update", op, name, value, False):
                f.update(op, variables[name], value, used=False)
            case ("compare-exchange", name, expected, desired):
                self.last, _ = f.compare_exchange(variables[name], expected, desired)
            case ("await load", name, value):
                self.last = f.load(variables[name], guard=lambda v: f.eq(v, value))
            case ("await exchange", name, value, desired):
                with f.atomic():
                    self.last = f.update("exchange", variables[name], desired)
                    f.assume(f.eq(self.last, value))
            case ("await compare-exchange", name, expected, desired):
                with f.atomic():
                    self.last, success = f.compare_exchange(variables[name], expected, desired)
                    f.assume(success)
            case ("await update", name, value):
                with f.atomic():
                    self.last = f.update("sub", variables[name], 1)
                    f.assume(f.sgt(self.last, value))
            case ("await", access, name, value, condition):
                with f.atomic(guarded=True):
                    found = self.access(access, variables[name], value)
                    f.assume(self.condition(condition, found), "loop")
                self.last = found
            case ("ordered", kind, ordering, name, value):
                if kind == "store":
                    f.store(variables[name], value, ordering=ordering)
                elif kind == "quiet add":
                    f.update("add", variables[name], value, used=False, ordering=ordering)
                else:
                    self.last = self.access(kind, variables[name], value, ordering)
            case ("await ordered", kind, ordering, name, value, condition):
                with f.atomic(guarded=True):
                    found = self.access(kind, variables[name], value, ordering)
                    f.assume(self.condition(condition, found), "loop")
                self.last = found
            case ("fence", ordering):
                f.fence(ordering)
            case ("ordered swap", ordering, failure, name, expected, desired):
                self.last = f.compare_exchange(variables[name], expected, desired, ordering=ordering, failure=failure)[
                    0
                ]
            case ("await swap", ordering, failure, name, expected, desired):
                with f.atomic(guarded=True):
                    self.last, success = f.compare_exchange(
                        variables[name], expected, desired, ordering=ordering, failure=failure
                    )
                    f.assume(success, "loop")
            case ("byte store", name, value):
                f.store(f.offset(variables[name], 1), value, type=I8)
            case ("byte load", name):
                self.last = f.convert("zext", f.load(f.offset(variables[name], 1), type=I8), I32)
            case ("lock", mutex):
                f.lock(variables[mutex])
            case ("section", source, target, value):
                with f.atomic():
                    f.store(variables[target], f.add(f.load(variables[source]), value))
            case ("section if", source, target, value):
                with f.atomic(), f.if_(f.eq(f.load(variables[source]), value)):
                    f.store(variables[target], 1)
            case ("section choose", name):
                with f.atomic():
                    f.store(variables[name], f.choose(2))
            case ("section await if", source, target, value):
                # A guard that is not always met.
                with f.atomic():
                    with f.if_(f.eq(f.load(variables[source]), value)):
                        f.assume(f.eq(f.load(variables[target]), 1))
                    f.store(variables[target], 2)
            case ("atomic", parts):
                with f.atomic():
                    self.run(parts)
            case ("guard", kind, name, condition):
                found = f.load(variables[name])
                self.guard(kind, self.condition(condition, found), variables[name])
                self.last = found
            case ("guard either", kind, name, value, other, alternative):
                holds = f.eq(f.load(variables[name]), value)
                self.guard(kind, f.or_(holds, f.eq(f.load(variables[other]), alternative)), variables[name])
            case ("if loaded", name, value, then, otherwise):
                with f.if_(f.eq(f.load(variables[name]), value)):
                    self.nested(then)
                with f.else_():
                    self.nested(otherwise)
            case ("choose loaded", source, target):
                with f.atomic():
                    f.store(variables[target], f.choose(f.and_(f.load(variables[source]), 3)))
            case ("await both", value):
                with f.atomic():
                    f.assume(f.eq(f.load(variables["x"]), value))
                    f.assume(f.eq(f.load(variables["y"]), value))
            case ("wait", mutex):
                # A condition variable: a count of those who wait, and one of those who may go on.
                f.lock(variables[mutex])
                with f.atomic():
                    f.store(variables[mutex], 0)
                    f.update("add", variables["waiters"], 1, used=False)
                with f.atomic():
                    f.await_(f.sgt(f.load(variables["signals"]), 0), "signal", variables["signals"])
                    f.update("sub", variables["signals"], 1, used=False)
                f.lock(variables[mutex])
                f.unlock(variables[mutex])
            case ("signal",):
                with f.atomic(), f.if_(f.sgt(f.load(variables["waiters"]), 0)):
                    f.update("sub", variables["waiters"], 1, used=False)
                    f.update("add", variables["signals"], 1, used=False)
            case ("choose", count):
                self.last = f.choose(count)
            case ("assume last", value):
                f.assume(f.ne(self.last, value))
            case ("check last", value):
                f.check(f.ne(self.last, value), "the value read last")
            case ("publish",):
                block = f.malloc(4, I32)
                f.store(block, 1)
                f.store(variables["published"], block)
            case ("use published",):
                block = f.load(variables["published"], type=PTR)
                with f.if_(f.ne(block, 0)):
                    f.store(block, 2, type=I32)
            case ("free published",):
                f.free(f.load(variables["published"], type=PTR))
            case ("exit",):
                # Only sometimes, so that not everything ends early.
                with f.if_(f.eq(self.last, 2)):
                    f.exit(0)
            case ("critical", mutex, body):
                f.lock(variables[mutex])
                self.nested(body)
                f.unlock(variables[mutex])
            case ("trylock", mutex, body):
                with f.if_(f.trylock(variables[mutex])):
                    self.nested(body)
                    f.unlock(variables[mutex])
            case ("if last", value, body):
                with f.if_(f.eq(self.last, value)):
                    self.nested(body)
            case _:
                raise AssertionError(operation)

    def guard(self, kind: str, condition: Value, object: Value) -> None:
        if kind == "assume":
            self.f.assume(condition)
        else:
            self.f.await_(condition, "variable", object)

    def access(self, kind: str, address: Value, value: int, ordering: Ordering | None = None) -> Value:
        """One that reads; the result is what it found there."""
        match kind:
            case "load":
                return self.f.load(address, ordering=ordering or "plain")
            case "compare-exchange":
                return self.f.compare_exchange(address, value, 2, ordering=ordering or "seq_cst")[0]
            case _:
                return self.f.update(cast(UpdateOp, kind), address, value, ordering=ordering or "seq_cst")

    def condition(self, condition: Condition, found: Value) -> Value:
        f = self.f
        match condition:
            case ("and", left, right):
                return f.and_(self.condition(left, found), self.condition(right, found))
            case ("or", left, right):
                return f.or_(self.condition(left, found), self.condition(right, found))
            case ("mask", mask, predicate, value):
                return f.compare(predicate, f.and_(found, mask), value)
            case ("plus", summand, predicate, value):
                return f.compare(predicate, f.add(found, summand), value)
            case ("last", predicate):
                return f.compare(predicate, found, self.last)
            case (predicate, value):
                return f.compare(predicate, found, value)
            case _:
                raise AssertionError(condition)

    def nested(self, body: tuple[Operation, ...]) -> None:
        """A body in a block of its own: what it reads last is not known behind it."""
        last = self.last
        self.run(body)
        if isinstance(self.last, Register):
            self.last = last
