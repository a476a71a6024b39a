"""Random programs with loops that may go round for ever, as plain data that a person can read and `shrink` can shorten.

Whatever they compute stays small: so few states can be reached that all of them can be visited (`Oracle.states`), with
no bound on how often a loop goes round.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from mazurka.program.builder import FunctionBuilder, ProgramBuilder
from mazurka.program.instructions import Constant, Value
from mazurka.program.program import Program
from mazurka.program.types import I8, I32, I64, PTR, Type

VARIABLES: dict[str, Type] = {"x": I32, "y": I32, "z": I8}
LOCALS = ["a", "b", "c"]
UPDATES = ["exchange", "or", "and", "xor", "max", "umin", "add"]
PREDICATES = ["eq", "ne", "eq", "ne", "slt", "sle", "ugt", "uge"]
OPERATORS = ["add", "sub", "xor", "and", "or"]
LOOPS = ["loop", "while", "do"]
ACCESSES = ["load", "plain load", "update", "compare-exchange", "try"]  # the results of which are kept

Statement = tuple[Any, ...]
Body = tuple[Statement, ...]
Expression = int | str | tuple[Any, ...]  # a constant, a local variable, or (operator, left, right)
Condition = tuple[Any, ...]


@dataclass(frozen=True)
class LoopShape:
    """A program: what each thread does, and the functions that they call. Thread 0 is main, which creates the others
    first and, if `joins`, waits for them at the end. Each thread has three local variables; those in `undefined` have
    no value at first."""

    threads: tuple[Body, ...]
    helpers: tuple[Body, ...] = ()
    joins: bool = False
    undefined: str = ""


# ---------------------------------------------------------------------------------------------------- making them up


def random_loop_shape(source: random.Random, *, steps: bool = True) -> LoopShape:
    """`steps`: with local variables that are computed from what they were before."""
    return _Inventor(source, steps).shape()


class _Inventor:
    """Makes up statements. If everything could be anywhere, threads would have little to do with each other: a program
    is about few variables, its loops look at what they have just read, and some threads write what others wait for."""

    def __init__(self, source: random.Random, steps: bool) -> None:
        self.source = source
        self.steps = steps
        self.variables = source.sample(list(VARIABLES), source.choice([1, 2, 2, 3]))
        self.locals = source.sample(LOCALS, source.choice([1, 2, 3]))
        self.recent = self.locals[0]  # the local variable that was set last
        self.hazards = [kind for kind in ("element", "divide", "through", "check", "assume") if source.random() < 0.25]
        self.rarities = [kind for kind in ("choose", "locked", "switch", "atomic") if source.random() < 0.2]
        self.writes = source.choice([0.0, 0.1, 0.3])
        self.helpers = source.choice([0, 0, 0, 1, 2])

    def shape(self) -> LoopShape:
        source = self.source
        helpers = tuple(self.body(source.choice([1, 2]), 2, callees=index) for index in range(self.helpers))
        threads = [self.waiter() for _ in range(source.choice([1, 1, 2]))] + [self.writer()]
        if len(threads) == 2 and source.random() < 0.4:
            threads.append(self.writer())
        if "through" in self.hazards and source.random() < 0.5:
            threads[-1] = (*threads[-1], ("free",))
        source.shuffle(threads)
        undefined = source.choice(LOCALS) if source.random() < 0.1 else ""
        return LoopShape(tuple(threads), helpers, source.random() < 0.3, undefined)

    def waiter(self) -> Body:
        source = self.source
        before, after = self.body(source.choice([0, 1]), 1), self.body(source.choice([0, 1, 2]), 1)
        loops = tuple(self.loop(3) for _ in range(source.choice([1, 1, 1, 2])))
        special = source.random()
        if special < 0.1:
            loops = self.retry()
        elif special < 0.2:
            loops = self.pause()
        elif special < 0.35:
            loops = (self.nest(),)
        return (*before, *loops, *after)

    def pause(self) -> Body:
        """Wait for something about several variables, and forget what it was."""
        source = self.source
        body: list[Statement] = []
        for _ in range(source.choice([2, 2, 3])):
            body += [
                self.read(),
                ("if", self.condition(), (source.choice([("break",), ("break",), ("continue",)]),), ()),
            ]
        last = source.choice([(), (self.read(), ("if", self.condition(), (("break",),), ()))])
        return (("loop", (*body, *last)), *(("set", local, 0) for local in self.locals))

    def nest(self) -> Statement:
        """A loop in a loop; the inner one does something unless it is left at once."""
        source = self.source
        leave = [self.read(), ("if", self.condition(), (("break",),), ())]
        inner = [self.read(), ("if", self.condition(), (("break",),), ()), source.choice([self.write(2), self.read()])]
        body = [("loop", tuple(inner)), *self.body(source.choice([0, 0, 1]), 1, loops=1)]
        return ("loop", tuple(leave + body if source.random() < 0.5 else [leave[0], *body, leave[1]]))

    def retry(self) -> Body:
        """Load a variable, and swap it for something else unless it has changed meanwhile."""
        load, swapped = self.read(), self.swapped()
        body = self.body(self.source.choice([0, 0, 1, 2]), 1, loops=1)
        return load, ("loop", (*body, ("if", (*swapped[:1], *load[1:], swapped[3]), (("break",),), ())))

    def writer(self) -> Body:
        """Writes what others wait for; perhaps only after it has seen something itself."""
        source = self.source
        writes = [
            self.write(0) if source.random() < 0.8 else self.statement(1, 0, self.helpers)
            for _ in range(source.choice([1, 2, 2, 3]))
        ]
        if source.random() < 0.4:
            writes.insert(source.randrange(len(writes)), ("do", (self.read(),), ("eq", self.recent, 0)))
        return tuple(writes)

    def body(self, length: int, depth: int, *, loops: int = 0, callees: int | None = None) -> Body:
        callees = self.helpers if callees is None else callees
        statements: list[Statement] = []
        for _ in range(length):
            statements.append(self.statement(depth, loops, callees))
            if "assume" in self.hazards and statements[-1][0] in ACCESSES and self.source.random() < 0.4:
                statements.append(("assume", self.condition()))
        return tuple(statements)

    def loop(self, depth: int, loops: int = 0, callees: int | None = None) -> Statement:
        source = self.source
        body = (self.read(), *self.body(source.choice([0, 1, 1, 2, 2, 3]), depth - 1, loops=loops + 1, callees=callees))
        kind = source.choice(LOOPS)
        if kind == "loop":
            # One that nothing leaves is no fun.
            way_out = ("if", self.condition(), (source.choice([("break",), ("break",), ("return",)]),), ())
            position = source.randrange(1, len(body) + 1)
            return ("loop", (*body[:position], way_out, *body[position:]))
        condition = self.condition()
        if source.random() < 0.3:
            local = self.local()
            condition = ("and then", condition, local, self.variable(), self.condition())
        return (kind, body, condition)

    def statement(self, depth: int, loops: int, callees: int) -> Statement:
        source = self.source
        if source.random() < self.writes:
            return self.write(loops)
        kinds = ["read", "read", "set", "compare-exchange", *self.hazards, *self.rarities]
        if depth:
            kinds += ["if"] * 3 + ["loop"] * (2 if loops < 2 else 0)
        if loops:
            kinds += ["leave", "leave", "set", "update", "swap"]
        if callees:
            kinds += ["call"]
        match source.choice(kinds):
            case "set":
                return ("set", self.local(), self.expression() if self.steps else source.randrange(3))
            case "compare-exchange":
                return self.compare_exchange()
            case "update":
                # One that changes nothing, or nothing new.
                return ("update", source.choice(UPDATES), self.local(), self.variable(), source.choice([0, 0, 1]))
            case "element":
                return ("element", self.local(), self.expression())
            case "divide" if self.steps:
                divisor = self.recent
                return ("divide", self.local(), self.expression(), divisor)
            case "through":
                return ("through", self.local())
            case "check" | "assume" as kind:
                return (kind, self.condition())
            case "choose":
                return ("choose", self.local(), 2)
            case "locked":
                return ("locked", self.body(source.choice([0, 1]), 0, callees=0))
            case "atomic":
                return ("atomic", self.body(source.choice([1, 2]), 0, callees=0))
            case "switch" if depth:
                chosen = self.recent
                bodies = [self.body(source.choice([0, 1]), depth - 1, loops=loops, callees=callees) for _ in range(3)]
                return ("switch", chosen, *bodies)
            case "if":
                condition = self.condition()
                then = self.body(source.choice([1, 1, 2]), depth - 1, loops=loops, callees=callees)
                otherwise = self.body(source.choice([0, 0, 1]), depth - 1, loops=loops, callees=callees)
                return ("if", condition, then, otherwise)
            case "loop":
                return self.loop(depth, loops, callees)
            case "leave":
                way_out = source.choice([("break",), ("continue",), ("continue",), ("return",)])
                return ("if", self.condition(), (way_out,), ())
            case "swap":
                return ("if", self.swapped(), (source.choice([("break",), ("return",)]),), ())
            case "call":
                return ("call", self.local(), source.randrange(callees), self.expression())
            case _:
                return self.read()

    def read(self) -> Statement:
        kind = "plain load" if self.source.random() < 0.15 else "load"
        return (kind, self.local(), self.variable())

    def write(self, loops: int) -> Statement:
        source = self.source
        match source.choice(["store", "store", "plain store", "update", "quiet update", "compare-exchange"]):
            case "store" | "plain store" as kind:
                return (kind, self.variable(), self.expression())
            case "update":
                value = self.expression()
                return ("update", self.update(loops), self.local(), self.variable(), value)
            case "quiet update":
                return ("quiet update", self.update(loops), self.variable(), self.expression())
            case _:
                return self.compare_exchange()

    def update(self, loops: int) -> str:
        """Not an addition in a loop, as a rule: it would run through too many values."""
        return self.source.choice(UPDATES[:-1] if loops and self.source.random() < 0.9 else UPDATES)

    def compare_exchange(self) -> Statement:
        expected, desired = self.expression(), self.expression()
        kind = self.source.choice(["compare-exchange", "try"])
        return (kind, self.local(), self.variable(), expected, desired)

    def swapped(self) -> Condition:
        desired = self.expression()
        return ("swapped", self.local(), self.variable(), desired)

    def local(self) -> str:
        """A local variable to set."""
        self.recent = self.source.choice(self.locals)
        return self.recent

    def variable(self) -> str:
        return self.source.choice(self.variables)

    def expression(self) -> Expression:
        local = self.source.choice([self.recent, *self.locals])
        number = self.source.choice([0, 1, 1, 1, 2, 2])
        match self.source.choice(["number"] * 4 + ["local"] * 2 + ["operation"]):
            case "number":
                return number
            case "local":
                return local
            case _:
                return (self.source.choice(OPERATORS), local, self.source.choice([number, number, *self.locals]))

    def condition(self, depth: int = 1) -> Condition:
        source = self.source
        match source.choice(["simple"] * 5 + ["and", "or", "not"] * depth):
            case "simple":
                left = self.recent if source.random() < 0.7 else source.choice(self.locals)
                others = [name for name in self.locals if name != left]
                right = source.choice(others) if others and source.random() < 0.2 else source.choice([0, 1, 1, 2])
                if source.random() < 0.15:
                    return (source.choice(PREDICATES), (source.choice(OPERATORS), left, source.choice([1, 2])), right)
                return (source.choice(PREDICATES), left, right)
            case "not":
                return ("not", self.condition(depth - 1))
            case kind:
                return (kind, self.condition(depth - 1), self.condition(depth - 1))


# ------------------------------------------------------------------------------------------------------ writing them


def build(shape: LoopShape, *, probes: bool = False) -> Program:
    """The program of a shape. Each statement has a line of its own. With `probes`, threads leave traces of their way
    through loops that are no events: before a loop they read the constant `entry<n>`, and at the start of each of its
    iterations the constant `header<n>`, at an offset that tells the values of the local variables."""
    builder = ProgramBuilder()
    shared: dict[str, Value] = {name: builder.variable(name, type) for name, type in VARIABLES.items()}
    shared["array"] = builder.array("array", I32, [1, 2])
    shared["pointer"] = builder.variable("pointer", PTR)
    shared["mutex"] = builder.mutex("mutex")
    results = [builder.variable(f"result{index}") for index in range(len(shape.threads))]
    statements, loops = itertools.count(1), itertools.count() if probes else None

    def write(f: FunctionBuilder, body: Body, result: Value | None, joined: Sequence[Value] = ()) -> None:
        writer = _Writer(builder, f, shared, result, joined, statements, loops, shape.undefined)
        writer.run((*body, ("return",)))

    for index, body in enumerate(shape.helpers):
        with builder.function(f"helper{index}", I32, returns=I32) as f:
            write(f, (("take",), *body), None)
    for index, body in enumerate(shape.threads[1:], 1):
        with builder.function(f"thread{index}") as f:
            write(f, body, results[index])
    with builder.function("main") as f:
        # What the pointer points to, until somebody frees it.
        block = f.malloc(4, I32)
        f.store(block, 1)
        f.store(shared["pointer"], block)
        handles = [f.spawn(f"thread{index}") for index in range(1, len(shape.threads))]
        write(f, shape.threads[0], results[0], handles if shape.joins else [])
    return builder.build()


@dataclass
class _Writer:
    """Writes statements into a function. At the end of a thread, what its local variables hold stays in `result`, to be
    seen, and some threads are `joined`; other functions return what the first of them holds."""

    builder: ProgramBuilder
    f: FunctionBuilder
    shared: dict[str, Value]
    result: Value | None
    joined: Sequence[Value]
    statements: Iterator[int]
    loops: Iterator[int] | None
    undefined: str
    depth: int = 0  # of loops

    def __post_init__(self) -> None:
        self.locals = {name: self.f.local(name, I32, None if name in self.undefined else 0) for name in LOCALS}

    def run(self, body: Body) -> None:
        for statement in body:
            if self.f.ended:
                break
            self.f.at("shape", next(self.statements))
            self.write(statement)

    def write(self, statement: Statement) -> None:
        f, shared = self.f, self.shared
        match statement:
            case ("load" | "plain load" as kind, local, name):
                self.set(local, f.load(shared[name], ordering="plain" if kind == "plain load" else "seq_cst"))
            case ("store" | "plain store" as kind, name, expression):
                value = self.value(expression, VARIABLES[name])
                f.store(shared[name], value, ordering="plain" if kind == "plain store" else "seq_cst")
            case ("update", op, local, name, expression):
                self.set(local, f.update(op, shared[name], self.value(expression, VARIABLES[name])))
            case ("quiet update", op, name, expression):
                f.update(op, shared[name], self.value(expression, VARIABLES[name]), used=False)
            case ("compare-exchange" | "try" as kind, local, name, expected, desired):
                first, second = self.value(expected, VARIABLES[name]), self.value(desired, VARIABLES[name])
                old, success = f.compare_exchange(shared[name], first, second)
                self.set(local, success if kind == "try" else old)
            case ("set", local, expression):
                self.set(local, self.value(expression))
            case ("take",):
                self.set("a", f.parameters[0])
            case ("element", local, index):
                # Of four elements, two exist.
                place = f.convert("zext", f.and_(self.value(index), 3), I64)
                self.set(local, f.load(f.element(shared["array"], place), ordering="seq_cst"))
            case ("divide", local, dividend, divisor):
                self.set(local, f.binary("udiv", self.value(dividend), self.value(divisor)))
            case ("through", local):
                pointer = f.load(shared["pointer"], ordering="seq_cst")
                self.set(local, f.load(pointer, I32, ordering="seq_cst"))
            case ("free",):
                f.free(f.load(shared["pointer"], ordering="seq_cst"))
            case ("choose", local, count):
                self.set(local, f.choose(count))
            case ("assume", condition):
                f.assume(self.truth(condition))
            case ("check", condition):
                f.check(self.truth(condition))
            case ("locked", body):
                f.lock(shared["mutex"])
                self.run(body)
                f.unlock(shared["mutex"])
            case ("atomic", body):
                with f.atomic():
                    self.run(body)
            case ("if", condition, then, otherwise):
                with f.if_(self.truth(condition)):
                    self.run(then)
                if otherwise:
                    with f.else_():
                        self.run(otherwise)
            case ("switch", local, *bodies):
                name = f"switch{next(self.statements)}"
                cases = {number: f"{name}.{number}" for number in range(len(bodies))}
                f.switch(self.value(local), cases, f"{name}.end")
                for label, body in zip(cases.values(), bodies, strict=True):
                    f.block(label)
                    self.run(body)
                f.block(f"{name}.end")
            case ("loop", body):
                with self.loop():
                    self.run(body)
            case ("while", body, condition):
                with self.loop():
                    with f.if_(f.not_(self.truth(condition))):
                        f.break_()
                    self.run(body)
            case ("do", body, condition):
                with self.loop():
                    self.run(body)
                    if not f.ended:
                        with f.if_(f.not_(self.truth(condition))):
                            f.break_()
            case ("break",):
                if self.depth:
                    f.break_()
            case ("continue",):
                if self.depth:
                    f.continue_()
            case ("return",):
                if self.result is None:
                    f.ret(self.value("a"))
                else:
                    f.store(self.result, f.or_(self.packed(), 16**3))
                    for handle in self.joined:
                        f.join(handle)
                    f.ret()
            case ("call", local, index, expression):
                self.set(local, f.call(f"helper{index}", self.value(expression), returns=I32))
            case _:
                raise AssertionError(statement)

    @contextmanager
    def loop(self) -> Iterator[None]:
        number = next(self.loops) if self.loops else None
        if number is not None:
            self.f.load(self.builder.variable(f"entry{number}", I8, constant=True))
        self.depth += 1
        with self.f.loop():
            if number is not None:
                header = self.builder.array(f"header{number}", I8, [0] * 16**3, constant=True)
                self.f.load(self.f.element(header, self.f.convert("zext", self.packed(), I64)))
            yield
        self.depth -= 1

    # ------------------------------------------------------------------------------------ values

    def set(self, local: str, value: Value) -> None:
        self.f.store(self.locals[local], value if value.type == I32 else self.f.convert("zext", value, I32))

    def value(self, expression: Expression, type: Type = I32) -> Value:
        """Something to be kept, in a variable or for the next iteration: it stays small."""
        match expression:
            case int(number):
                return Constant(type, number)
            case str(local):
                value = self.f.load(self.locals[local])
            case _:
                value = self.f.and_(self.compared(expression), 3)
        return value if type == I32 else self.f.convert("trunc", value, type)

    def compared(self, expression: Expression) -> Value:
        """Something to be looked at only: it can be negative."""
        match expression:
            case (op, left, right):
                return self.f.binary(op, self.value(left), self.value(right))
            case _:
                return self.value(expression)

    def packed(self) -> Value:
        """All local variables in one number."""
        f = self.f
        a, b, c = (f.and_(self.value(name), 15) for name in LOCALS)
        return f.add(a, f.add(f.mul(b, 16), f.mul(c, 16**2)))

    def truth(self, condition: Condition) -> Value:
        f, shared = self.f, self.shared
        match condition:
            case ("and", left, right):
                return f.and_(self.truth(left), self.truth(right))
            case ("or", left, right):
                return f.or_(self.truth(left), self.truth(right))
            case ("not", inner):
                return f.not_(self.truth(inner))
            case ("and then", first, local, name, second):
                # Like && in C: what is on the right happens only if what is on the left is true.
                both = f.local("both", I8, 0)
                with f.if_(self.truth(first)):
                    self.write(("load", local, name))
                    f.store(both, f.convert("zext", self.truth(second), I8))
                return f.ne(f.load(both), 0)
            case ("swapped", local, name, expression):
                # Like compare-exchange in C: what is found instead of the expected value replaces that.
                expected, desired = self.value(local, VARIABLES[name]), self.value(expression, VARIABLES[name])
                old, success = f.compare_exchange(shared[name], expected, desired)
                with f.if_(f.not_(success)):
                    self.set(local, old)
                return success
            case (predicate, left, right):
                return f.compare(predicate, self.compared(left), self.compared(right))
            case _:
                raise AssertionError(condition)


# ---------------------------------------------------------------------------------------------------- shortening them


def shrink(shape: LoopShape, fails: Callable[[LoopShape], bool]) -> LoopShape:
    """A shape that fails, too, of which nothing can be left out."""
    while True:
        shorter = next((candidate for candidate in _shorter(shape) if fails(candidate)), None)
        if shorter is None:
            return shape
        shape = shorter


def _shorter(shape: LoopShape) -> Iterator[LoopShape]:
    if shape.joins:
        yield replace(shape, joins=False)
    if shape.undefined:
        yield replace(shape, undefined="")
    for threads in _shorter_lists(shape.threads):
        yield replace(shape, threads=threads)
    for helpers in _shorter_lists(shape.helpers):
        yield replace(shape, helpers=helpers)


def _shorter_lists(bodies: tuple[Body, ...]) -> Iterator[tuple[Body, ...]]:
    for index, body in enumerate(bodies):
        for shorter in _shorter_bodies(body):
            yield (*bodies[:index], shorter, *bodies[index + 1 :])


def _shorter_bodies(body: Body) -> Iterator[Body]:
    for index, statement in enumerate(body):
        before, after = body[:index], body[index + 1 :]
        yield (*before, *after)
        for position, part in enumerate(statement):
            if not isinstance(part, tuple):
                continue
            if _is_body(part):
                yield (*before, *part, *after)
            for other in _shorter_bodies(part) if _is_body(part) else _simpler(part):
                yield (*before, (*statement[:position], other, *statement[position + 1 :]), *after)


def _is_body(part: tuple[Any, ...]) -> bool:
    return all(isinstance(statement, tuple) and statement and isinstance(statement[0], str) for statement in part)


def _simpler(part: tuple[Any, ...]) -> Iterator[Any]:
    """Conditions and expressions that are parts of a given one."""
    match part:
        case ("and" | "or", left, right):
            yield from (left, right)
        case ("not", inner):
            yield inner
        case ("and then", first, *_, second):
            yield from (first, second)
