"""Random programs with loops that wait, in which every access has its own memory order, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from mazurka.program.builder import NULL, FunctionBuilder, ProgramBuilder
from mazurka.program.instructions import Constant, Value
from mazurka.program.program import Program, Relocation
from mazurka.program.types import I32, PTR

VARIABLES = ["x", "y", "d"]
LOCALS = ["a", "b", "c"]
LOADS = ["relaxed", "acquire", "seq_cst", "plain"]
STORES = ["relaxed", "release", "seq_cst", "plain"]
UPDATES = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"]
FAILURES = ["relaxed", "acquire", "seq_cst"]
FENCES = ["acquire", "release", "acq_rel", "seq_cst"]

Statement = tuple[Any, ...]
Body = tuple[Statement, ...]


@dataclass(frozen=True)
class WeakShape:
    """A program: what each thread does. Main starts them and, if it `joins`, waits for them and looks at what is in
    memory then. What the local variables of a thread hold at its end, and that it has come there, stays in a variable
    of its own, and so does what main has seen. `count`: what x holds at first."""

    threads: tuple[Body, ...]
    joins: bool = True
    count: int = 0


def random_weak_shape(source: Random, *, only_waits: bool = False) -> WeakShape:
    """`only_waits`: with loops only of which all rounds are in vain but the last."""
    return _Inventor(source, only_waits).shape()


class _Inventor:
    def __init__(self, source: Random, only_waits: bool) -> None:
        self.source = source
        self.only_waits = only_waits
        # How often an access is weak, in the middle, seq_cst, plain.
        self.weights = source.choice(
            [(6, 2, 1, 0), (3, 5, 1, 0), (2, 2, 4, 0), (0, 0, 1, 0), (4, 2, 1, 1), (2, 2, 1, 3)]
        )
        self.plain_data = source.random() < 0.4
        self.pointers = source.random() < 0.2
        self.fences = source.choice([0.0, 0.0, 0.2, 0.5])
        self.kinds = ["load", "store", "store", "update", "cas"] if source.random() < 0.5 else ["load", "store"]
        self.variables = source.choice([["x", "y"], ["x", "y"], ["x", "y", "d"], ["x"]])
        self.count = 0

    # ------------------------------------------------------------------------------------------------ orders

    def order(self, orders: list[str], name: str = "") -> str:
        if name == "d" and self.plain_data and "plain" in orders:
            return "plain"
        weak, middle, strong, plain = self.weights
        between = [each for each in orders if each not in ("relaxed", "seq_cst", "plain")]
        weights = [
            weak
            if each == "relaxed"
            else strong
            if each == "seq_cst"
            else plain
            if each == "plain"
            else middle / len(between)
            for each in orders
        ]
        return self.source.choices(
            orders, [weight + 0.001 * (each != "plain") for each, weight in zip(orders, weights, strict=True)]
        )[0]

    def variable(self) -> str:
        return self.source.choice(self.variables)

    def fence(self, often: float | None = None) -> Body:
        wanted = self.source.random() < (self.fences if often is None else often)
        return (("fence", self.source.choice([*FENCES, "seq_cst", "seq_cst"])),) if wanted else ()

    # ---------------------------------------------------------------------------------------------- accesses

    def load(self, local: str, name: str) -> Statement:
        kind = "through" if self.pointers and name in ("x", "y") and self.source.random() < 0.5 else "load"
        return (kind, local, name, self.order(LOADS, name))

    def store(self, name: str, value: int | str) -> Statement:
        return ("store", name, value, self.order(STORES, name))

    def update(self, op: str, local: str, name: str, value: int) -> Statement:
        return ("update", op, local, name, value, self.order(UPDATES))

    def cas(self, local: str, name: str, expected: int, desired: int) -> Statement:
        return ("cas", local, name, expected, desired, self.order(UPDATES), self.order(FAILURES))

    def access(self) -> Statement:
        source, name = self.source, self.variable()
        local = source.choice(LOCALS)
        match source.choice(self.kinds):
            case "load":
                return self.load(local, name)
            case "store":
                return self.store(name, source.choice([1, 1, 2, 0]))
            case "update":
                op, value = source.choice([("add", 1), ("exchange", 1), ("exchange", 2), ("or", 1), ("add", 0)])
                return self.update(op, local, name, value)
            case _:
                return self.cas(local, name, source.choice([0, 1]), source.choice([1, 2]))

    def accesses(self, most: int) -> Body:
        found: list[Statement] = []
        for _ in range(self.source.randint(0, most)):
            found += [self.access(), *self.fence()]
        return tuple(found)

    # ------------------------------------------------------------------------------------------------- loops

    def condition(self, local: str) -> Statement:
        return (self.source.choice(["eq", "ne", "eq", "ugt"]), local, self.source.choice([0, 1, 1, 2]))

    def rest(self) -> Body:
        """What a round does in vain."""
        match self.source.random():
            case number if number < 0.1:
                return (("yield",),)
            case number if number < 0.2:
                return (("pause", self.source.choice([1, 2])),)
            case number if number < 0.27:
                return (("call fence",),)
            case number if number < 0.35:
                return self.fence(1)
            case number if number < 0.4:
                return (("if", ("ugt", "c", 1), (("yield",),), (("call fence",),)), ("set", "c", 2))
        return ()

    def loop(self) -> Body:
        source = self.source
        before, *loops = self.plain_loop()
        if before[0] == "loop" and source.random() < 0.3:
            before = ("loop", (*self.rest(), *before[1]))
        return (before, *loops)

    def plain_loop(self) -> Body:
        source = self.source
        name = self.variable()
        other = source.choice([each for each in self.variables if each != name] or [name])
        wanted = ("if", self.condition("a"), (("break",),), ())
        also = ("if", self.condition("b"), (("break",),), ())
        free = ("if", ("eq", "a", 0), (("break",),), ())
        match source.randrange(10 if self.only_waits else 15):
            case 0 | 1:
                return (("loop", (self.load("a", name), wanted, *self.rest())),)
            case 2:
                return (("loop", (self.update("exchange", "a", name, 1), free, *self.rest())),)
            case 3:
                done = ("if", ("ne", "a", 0), (("break",),), ())
                swap = self.cas("a", name, source.choice([0, 1]), source.choice([1, 2]))
                return (("loop", (swap, done, *self.rest())),)
            case 4:
                wait = ("loop", (self.load("b", name), ("if", ("eq", "b", 0), (("break",),), ())))
                attempt = self.update("exchange", "a", name, 1)
                return (("loop", (attempt, free, wait) if source.random() < 0.5 else (wait, attempt, free)),)
            case 5:
                both = (source.choice(["and", "or"]), self.condition("a"), self.condition("b"))
                reads = (self.load("a", name), *self.fence(), self.load("b", other))
                return (("loop", (*reads, ("if", both, (("break",),), ()), *self.rest())),)
            case 6 | 7:
                away = wanted if source.random() < 0.7 else ("if", self.condition("a"), (("continue",),), ())
                return (
                    ("loop", (self.load("a", name), away, *self.fence(), self.load("b", other), also, *self.rest())),
                )
            case 8 | 9:
                return (self.net(name),)
            case 10:
                swap = ("swapped", "a", name, source.choice([1, 2, "b"]), self.order(UPDATES), self.order(FAILURES))
                between = (self.load("b", other),) if source.random() < 0.3 else ()
                first = (self.load("a", name),) if source.random() < 0.7 else ()
                return (*first, ("loop", (*between, ("if", swap, (("break",),), ()), *self.rest())))
            case 11:
                # What waits may write before it goes on.
                effect = ("if", self.condition("a"), (self.store(other, 1), ("break",)), ())
                more = (self.access(),) if source.random() < 0.3 else ()
                return (("loop", (self.load("a", name), *self.rest(), effect, *more)),)
            case 12:
                return (("new",), ("loop", self.push()))
            case 13:
                # What is read in vain may race.
                return (("loop", (self.load("a", name), wanted, self.load("b", "d"), ("set", "b", 0))),)
            case _:
                body = (self.access(), wanted, self.access())
                return (("loop", (*body, also) if source.random() < 0.5 else body),)

    def net(self, name: str) -> Statement:
        source = self.source
        found = ("if", ("sgt", "a", 0), (("break",),), ())
        wait = ("loop", (self.load("b", name), ("if", ("sgt", "b", 0), (("break",),), ())))
        back = (*self.fence(), ("update", "add", None, name, 1, self.order(UPDATES)))
        waits = (wait,) if source.random() < 0.8 or self.only_waits else ()
        self.count = source.choice([0, 0, 1])
        return ("loop", (self.update("add", "a", name, -1), *self.fence(), found, *back, *waits))

    def push(self) -> Body:
        source = self.source
        prepare = ("prepare", source.choice([1, 2, "a"]), source.choice(["plain", "plain", "relaxed"]))
        publish = ("publish", "b", self.order(UPDATES), self.order(FAILURES))
        read = self.load("a", self.variable())
        rest: Body = (("if", ("ne", "b", 0), (("break",),), ()),)
        return (read, prepare, publish, *rest)

    def writer(self) -> Body:
        source = self.source
        body: list[Statement] = []
        for _ in range(source.choice([1, 2, 2, 3])):
            name = self.variable()
            body += [
                self.store(name, source.choice([1, 1, 2, 0])) if source.random() < 0.8 else self.access(),
                *self.fence(),
            ]
        if source.random() < 0.2:
            body.append(("peek", "c", source.choice(["relaxed", "acquire"]), source.choice(["plain", "relaxed"])))
        if source.random() < 0.15:
            body.append(("withdraw", self.order(STORES[:3])))
        return tuple(body)

    def relay(self) -> Body:
        """Writes something only if it has seen something."""
        source, name = self.source, self.variable()
        seen = ("if", ("eq", "a", source.choice([1, 1, 2])), (*self.fence(), self.store(self.variable(), 1)), ())
        if source.random() < 0.3:
            seen = ("if", ("ne", "a", 0), (self.store("d", 1),), ())
        return (self.load("a", name), seen)

    def dekker(self) -> Body:
        """Tells what it wants, and waits until nobody else wants it."""
        source = self.source
        mine, other = source.sample(["x", "y"], 2)
        turn = source.choice(["d", mine])
        wish = self.store(mine, 1) if source.random() < 0.7 else self.update("exchange", "c", mine, 1)
        away = ("if", ("eq", "a", 0), (("break",),), ())
        also = ("if", (source.choice(["eq", "ne"]), "b", source.choice([0, 1])), (("break",),), ())
        body: Body = (self.load("a", other), away)
        if source.random() < 0.7:
            body = (*body, *self.fence(), self.load("b", turn), also)
        inside = (self.load("c", source.choice([mine, other, "d"])), *self.fence()) if source.random() < 0.8 else ()
        leave = (self.store(mine, source.choice([0, 2])),) if source.random() < 0.6 else ()
        rest = self.rest()
        body = (*rest, *body) if source.random() < 0.5 else (*body, *rest)
        return (wish, *self.fence(), ("loop", body), ("set", "a", 0), ("set", "b", 0), *inside, *leave)

    def waiter(self) -> Body:
        source = self.source
        if source.random() < 0.25:
            return self.dekker()
        before = self.accesses(2) if source.random() < 0.5 else ()
        after: list[Statement] = []
        for _ in range(source.choice([0, 1, 1, 2])):
            name = self.variable()
            after.append(self.load(source.choice(["b", "c"]), name) if source.random() < 0.5 else self.access())
        if source.random() < 0.3:
            after.append(("check", self.condition(source.choice(LOCALS))))
        forget = (("set", "a", 0), ("set", "b", 0)) if source.random() < 0.3 else ()
        return (*before, *self.loop(), *forget, *after)

    def shape(self) -> WeakShape:
        source = self.source
        threads = [self.waiter(), source.choice([self.writer, self.writer, self.relay, self.waiter])()]
        if source.random() < 0.4:
            threads.append(self.writer() if source.random() < 0.6 else self.relay())
        source.shuffle(threads)
        return WeakShape(tuple(threads), source.random() < 0.8 or self.only_waits, self.count)


# --------------------------------------------------------------------------------------------------- programs


def build(shape: WeakShape, *, gives_up: bool = False) -> Program:
    """`gives_up`: instead of going round once more, a thread may tell main in which loop it is, and end. Main, which
    sees what is newest, goes round in its place, and fails if that leads nowhere for each of those threads."""
    builder = ProgramBuilder()
    shared: dict[str, Value] = {
        name: builder.variable(name, I32, shape.count if name == "x" else 0) for name in VARIABLES
    }
    shared["top"] = builder.variable("top", PTR, 0)
    for name in "xy":
        if any(("through", name) == (each[0], each[2]) for each in statements(shape) if len(each) > 2):
            shared[f"to {name}"] = builder.data(f"to {name}", bytes(8), [Relocation(0, name, 0)])
    with builder.function("yield"):
        pass
    with builder.function("fencing") as f:
        f.fence("seq_cst")
    results = [builder.variable(f"result{number}") for number in range(len(shape.threads))]
    for number in range(len(shape.threads) if gives_up else 0):
        for name in ["loop", *LOCALS]:
            shared[f"{name} of {number}"] = builder.variable(f"{name} of {number}")
    for number, body in enumerate(shape.threads):
        with builder.function(f"thread{number}") as f:
            writer = _Writer(f, shared, number if gives_up else None)
            writer.run(body)
            if not f.ended:
                packed: Value = Constant(I32, 1 << 12)
                for place, name in enumerate(LOCALS):
                    packed = f.add(packed, f.mul(f.and_(f.load(writer.locals[name]), 15), 16**place))
                f.store(results[number], packed)
    last = builder.variable(f"result{len(shape.threads)}")
    with builder.function("main") as f:
        handles = [f.spawn(f"thread{number}") for number in range(len(shape.threads))]
        if shape.joins:
            for handle in handles:
                f.join(handle)
            if gives_up:
                _go_on(f, shared, shape)
            packed = Constant(I32, 1 << 12)
            for place, name in enumerate(VARIABLES):
                packed = f.add(packed, f.mul(f.and_(f.load(shared[name], ordering="acquire"), 15), 16**place))
            f.store(last, packed)
        else:
            f.end_thread()
    return builder.build()


def _go_on(f: FunctionBuilder, shared: dict[str, Value], shape: WeakShape) -> None:
    """Go round for those who have given up, in the order of the threads."""
    left, stuck = f.local("left", I32, 0), f.local("stuck", I32, 0)
    for number, body in enumerate(shape.threads):
        loops = [each[1] for each in statements(WeakShape((body,))) if each[0] == "loop"]
        for index, loop in enumerate(loops, 1):
            with f.if_(f.eq(f.load(shared[f"loop of {number}"]), index)):
                writer = _Writer(f, shared)
                for name in LOCALS:
                    f.store(writer.locals[name], f.load(shared[f"{name} of {number}"]))
                # (Once control goes round a third time, in whichever loop, it always would.)
                writer.most, writer.end = 3, f"stuck {number} {index}"
                writer.write(("loop", loop))
                if not f.ended:
                    f.store(left, 1)
                    f.jump(f"end {number} {index}")
                f.block(writer.end)
                f.store(stuck, 1)
                f.block(f"end {number} {index}")
    f.check(f.not_(f.and_(f.eq(f.load(stuck), 1), f.eq(f.load(left), 0))), "livelock", "abort")


def statements(shape: WeakShape) -> Iterator[Statement]:
    """All of them, also those in others."""

    def walk(body: Body) -> Iterator[Statement]:
        for statement in body:
            yield statement
            for part in statement:
                if isinstance(part, tuple) and (not part or isinstance(part[0], tuple)):
                    yield from walk(part)

    for body in shape.threads:
        yield from walk(body)


class _Writer:
    def __init__(self, f: FunctionBuilder, shared: dict[str, Value], gives_up: int | None = None) -> None:
        self.gives_up = gives_up
        self.loops = 0
        self.most, self.end = 0, ""  # rounds, and where to go after them
        self.f = f
        self.shared = shared
        self.depth = 0
        self.line = 0
        self.locals = {name: f.local(name, I32, 0) for name in LOCALS}
        self.own = f.local("own", PTR, NULL)

    def run(self, body: Body) -> None:
        for statement in body:
            if self.f.ended:
                break
            self.line += 1
            self.f.at("shape", self.line)
            self.write(statement)

    def value(self, expression: int | str) -> Value:
        if isinstance(expression, int):
            return Constant(I32, expression % 2**32)
        return self.f.load(self.locals[expression])

    def set(self, local: str, value: Value) -> None:
        self.f.store(self.locals[local], value if value.type == I32 else self.f.convert("zext", value, I32))

    def truth(self, condition: Statement) -> Value:
        f = self.f
        match condition:
            case ("and", left, right):
                return f.and_(self.truth(left), self.truth(right))
            case ("or", left, right):
                return f.or_(self.truth(left), self.truth(right))
            case ("swapped", local, name, desired, order, failure):
                old, success = f.compare_exchange(
                    self.shared[name], self.value(local), self.value(desired), ordering=order, failure=failure
                )
                with f.if_(f.not_(success)):
                    self.set(local, old)
                return success
            case (predicate, left, right):
                return f.compare(predicate, self.value(left), self.value(right))
        raise AssertionError(condition)

    def write(self, statement: Statement) -> None:
        f, shared = self.f, self.shared
        match statement:
            case ("load", local, name, order):
                self.set(local, f.load(shared[name], ordering=order))
            case ("through", local, name, order):
                self.set(local, f.load(f.load(shared[f"to {name}"], PTR), I32, ordering=order))
            case ("store", name, value, order):
                f.store(shared[name], self.value(value), ordering=order)
            case ("update", op, None, name, value, order):
                f.update(op, shared[name], self.value(value), used=False, ordering=order)
            case ("update", op, local, name, value, order):
                self.set(local, f.update(op, shared[name], self.value(value), ordering=order))
            case ("cas", local, name, expected, desired, order, failure):
                _, success = f.compare_exchange(shared[name], expected, desired, ordering=order, failure=failure)
                self.set(local, success)
            case ("fence", order):
                f.fence(order)
            case ("call fence",):
                f.call("fencing")
            case ("yield",):
                f.call("yield")
            case ("pause", times):
                count = f.local("i", I32, 0)
                with f.loop():
                    with f.if_(f.compare("sge", f.load(count), times)):
                        f.break_()
                    f.call("yield")
                    f.store(count, f.add(f.load(count), 1))
            case ("set", local, value):
                self.set(local, self.value(value))
            case ("new",):
                f.store(self.own, f.malloc(8, zeroed=True))
            case ("prepare", value, order):
                f.store(f.load(self.own), self.value(value), I32, ordering=order)
            case ("publish", local, order, failure):
                _, success = f.compare_exchange(shared["top"], NULL, f.load(self.own), ordering=order, failure=failure)
                self.set(local, success)
            case ("withdraw", order):
                f.store(shared["top"], NULL, ordering=order)
            case ("peek", local, order, then):
                found = f.load(shared["top"], ordering=order)
                with f.if_(f.ne(found, NULL)):
                    self.set(local, f.load(found, I32, ordering=then))
            case ("check", condition):
                f.check(self.truth(condition))
            case ("if", condition, then, otherwise):
                with f.if_(self.truth(condition)):
                    self.run(then)
                if otherwise:
                    with f.else_():
                        self.run(otherwise)
            case ("loop", body):
                self.depth += 1
                self.loops += 1
                number = self.loops
                rounds = f.local("rounds", I32, 0)
                with f.loop():
                    if self.gives_up is not None:
                        done = f.load(rounds)
                        f.store(rounds, f.add(done, 1))
                        f.assume(f.compare("ule", done, 2))
                        with f.if_(f.ne(f.choose(2), 0)):
                            for name in LOCALS:
                                f.store(shared[f"{name} of {self.gives_up}"], f.load(self.locals[name]))
                            f.store(shared[f"loop of {self.gives_up}"], number)
                            f.ret()
                    if self.most:
                        done = f.load(rounds)
                        f.store(rounds, f.add(done, 1))
                        f.branch(f.eq(done, self.most), self.end, f"round {self.end} {number}")
                        f.block(f"round {self.end} {number}")
                    self.run(body)
                self.depth -= 1
            case ("break",):
                if self.depth:
                    f.break_()
            case ("continue",):
                if self.depth:
                    f.continue_()
            case _:
                raise AssertionError(statement)


# ------------------------------------------------------------------------------------------- shortening them


def shrink(shape: WeakShape, fails: Callable[[WeakShape], bool]) -> WeakShape:
    """A shape that fails, too, of which nothing can be left out."""
    while True:
        shorter = next((candidate for candidate in _shorter(shape) if fails(candidate)), None)
        if shorter is None:
            return shape
        shape = shorter


def _shorter(shape: WeakShape) -> Iterator[WeakShape]:
    for number, body in enumerate(shape.threads):
        if len(shape.threads) > 1:
            yield replace(shape, threads=shape.threads[:number] + shape.threads[number + 1 :])
        for shorter in _shorter_bodies(body):
            yield replace(shape, threads=(*shape.threads[:number], shorter, *shape.threads[number + 1 :]))
    if shape.count:
        yield replace(shape, count=0)


def _shorter_bodies(body: Body) -> Iterator[Body]:
    for index, statement in enumerate(body):
        before, after = body[:index], body[index + 1 :]
        yield (*before, *after)
        for position, part in enumerate(statement):
            if isinstance(part, tuple) and part and isinstance(part[0], tuple):
                yield (*before, *part, *after)
                for other in _shorter_bodies(part):
                    yield (*before, (*statement[:position], other, *statement[position + 1 :]), *after)
