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

from mazurka.program.builder import NULL, FunctionBuilder, ProgramBuilder
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
    no value at first. `count` is what the counter holds at first."""

    threads: tuple[Body, ...]
    helpers: tuple[Body, ...] = ()
    joins: bool = False
    undefined: str = ""
    count: int = 0


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
        self.peeks = 0.0  # how likely it is that somebody looks into what was published
        self.tries = 0.0  # ... or tries whether the mutex is held

    def shape(self) -> LoopShape:
        source = self.source
        if source.random() < 0.12:
            return self.net()
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
        elif special < 0.45:
            loops = self.try_lock()
        elif special < 0.55:
            loops = self.push()
        elif special < 0.67:
            loops = self.poll()
        elif special < 0.75 and self.steps:
            loops = self.back_off()
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
        loop = ("loop", (*body, ("if", (*swapped[:1], *load[1:], swapped[3]), (("break",),), ())))
        return (load, loop) if self.source.random() < 0.6 else (loop,)

    def try_lock(self) -> Body:
        """Take the mutex as soon as that can be done without waiting. Whoever could not may look at its note."""
        source = self.source
        attempt = ("trylock", self.local())
        leave = ("if", ("eq", self.recent, 0), (("break",),), ())
        body = self.body(source.choice([0, 0, 1]), 1, loops=1)
        looks = source.random()
        if looks < 0.2:
            body = (*body, ("note", self.local()))
        inside = self.body(source.choice([0, 1]), 0)
        after = (("unlock",), *((("note", self.local()),) if looks > 0.8 else ()))
        loop = ("loop", source.choice([(attempt, leave, *body), (*body, attempt, leave)]))
        return (loop, *inside, *(after if source.random() < 0.8 else ()))

    def back_off(self) -> Body:
        """Wait for something, and count the tries: how long it pauses, or whether it does something else, depends on
        their number."""
        source = self.source
        tries, few = source.choice(LOCALS), source.choice([1, 2, 3])
        others = [local for local in LOCALS if local != tries]
        seen = source.choice(others)
        leave = ("if", (source.choice(PREDICATES), seen, source.choice([0, 1])), (("break",),), ())
        rest = (("yield",),) if source.random() < 0.8 else (self.statement(0, 1, 0),)
        wait = [
            ("if", ("sgt", tries, few), rest, source.choice([(), (("yield",),), (("yield",), ("yield",))])),
            ("pause", source.choice([1, 2, tries])),
            ("switch", tries, (("yield",),), (), rest),
        ]
        count = ("set", tries, source.choice([("add", tries, 1), ("add", tries, 1), ("or", tries, 1), seen]))
        body = [("load", seen, self.variable()), leave, count, *source.sample(wait, source.choice([1, 1, 2]))]
        forget = (("set", tries, 0),) if source.random() < 0.7 else ()
        return (("loop", tuple(body)), *forget)

    def poll(self) -> Body:
        """Look at something under the mutex, again and again; perhaps take it away once it is there."""
        source = self.source
        self.tries = source.choice([0.0, 0.0, 0.7])
        read = self.read()
        leave = ("if", self.condition(), (source.choice([("break",), ("break",), ("return",)]),), ())
        inside: list[Statement] = [read, *self.body(source.choice([0, 0, 1]), 1)]
        if source.random() < 0.4:
            inside.append(("if", self.condition(), (self.write(1),), ()))
        around = [("critical", tuple(inside)), *self.body(source.choice([0, 0, 1]), 0, loops=1)]
        if source.random() < 0.1:
            around.insert(0, ("critical", (self.read(), *(around[:1] if source.random() < 0.3 else ()))))
        if source.random() < 0.1:
            around[0] = ("critical", (*inside, leave))
        return (("loop", (*around, leave)),)

    def net(self) -> LoopShape:
        """Threads that take something from the counter, put it back if there was not enough, and try again: in most
        programs so that nobody can tell whether they failed, but with variations that make a difference."""
        source = self.source
        self.helpers = 0
        count = source.choice([0, 1, 1, 2])
        sign = source.choice([1, -1, -1, -1])
        few = source.choice([("sgt", 0), ("sge", 1), ("uge", 1), ("ne", 0)]) if sign < 0 else ("slt", count + 1)
        enough = [few, few, ("eq", count), ("sge", 2), (source.choice(PREDICATES), source.choice([0, 1, 2]))]
        sloppy = source.choice([0.0, 0.0, 0.0, 0.15])

        def sometimes(*statements: Statement) -> Body:
            return statements if source.random() < sloppy else ()

        def taker() -> Body:
            number = sign * source.choice([1, 1, 2])
            predicate, least = source.choice(enough)
            if source.random() < sloppy:
                number = -number
            wanted = source.choice(enough) if source.random() < sloppy else (predicate, least)
            look, found = ("count", "b"), (wanted[0], "b", wanted[1])
            wait: Statement = ("loop", (look, *sometimes(self.read()), ("if", found, (("break",),), ())))
            if source.random() < 0.1:
                wait = ("do", (look,), ("not", found))
            back = source.choice([("count add", -number), ("count add", -number), ("fetch", "c", -number)])
            if source.random() < sloppy:
                back = ("count add", number)
            attempt = (("fetch", "a", number), ("if", (predicate, "a", least), (("break",),), ()))
            rest = (*sometimes(self.write(1)), back, *sometimes(self.read()), *sometimes(("set", "c", ("add", "c", 1))))
            match source.choice(["after", "after", "before", "around", "none"]):
                case "after":
                    loop = (*attempt, *rest, wait)
                case "before":
                    loop = (wait, *attempt, *rest)
                case "around":
                    loop = (*attempt, *rest, wait, *sometimes(("if", ("eq", "b", 1), (("break",),), ())))
                case _:
                    loop = (*attempt, *rest)
            forget = () if source.random() < sloppy else (("set", "a", 0), ("set", "b", 0), ("set", "c", 0))
            inside = self.body(source.choice([0, 1]), 0)
            give = (("count add", -number),) if source.random() < 0.9 else ()
            if source.random() < 0.1:
                return (("if", ("eq", "c", 0), (("loop", loop), *forget, *inside, *give), ()),)
            return (("loop", loop), *forget, *inside, *give)

        def holder() -> Body:
            number = sign * source.choice([1, 1, 2])
            if source.random() < 0.2:
                number = -number
            wait = ("do", (("count", "a"),), (source.choice(PREDICATES), "a", source.choice([0, 1, 2])))
            look = (("count", "a"), *((("set", "a", 0),) if source.random() < 0.5 else (("check", self.condition()),)))
            once = (
                ("fetch", "a", number),
                ("if", ("sle", "a", 0), (("count add", -number), ("set", "b", 1)), (("count add", -number),)),
                ("set", "a", 0),
            )
            plain = (("count add", number), *self.body(source.choice([0, 1]), 0), ("count add", -number))
            return source.choice(
                [plain, plain, plain, (wait, ("set", "a", 0)), look if sloppy else plain, once if sloppy else plain]
            )

        threads = [taker(), source.choice([taker, holder])()]
        if source.random() < 0.5:
            threads.append(source.choice([taker, holder, self.writer])())
        source.shuffle(threads)
        return LoopShape(tuple(threads), (), source.random() < 0.3, count=count)

    def push(self) -> Body:
        """Prepare an object that nobody else has, and publish it by a compare-exchange, again and again until that
        succeeds; with variations that make a difference."""
        source = self.source
        self.peeks = 0.7
        read = self.read()
        seen = self.recent if source.random() < 0.6 else self.expression()
        prepare: list[Statement] = [("prepare", source.choice([0, 0, 0, 4]), seen)]
        if source.random() < 0.3:
            prepare.insert(source.randrange(2), source.choice([("look", self.local(), 0), self.read()]))
        if source.random() < 0.15:
            prepare.append(("prepare", 0, self.expression()))
        publish = ("publish", self.local(), source.choice(["null", "null", "seen", "own"]))
        leave = ("if", ("eq", self.recent, 1), (source.choice([("break",), ("break",), ("break",), ("return",)]),), ())
        body: list[Statement] = [read, *prepare, publish, leave]
        if source.random() < 0.3:
            body = [read, *prepare, ("if", (source.choice(["eq", "ne"]), read[1], 1), (("break",),), ())]
        if source.random() < 0.2:
            away = source.choice([("continue",), ("break",)])
            body.insert(source.randrange(4), ("if", self.condition(), (away,), ()))
        if source.random() < 0.2:
            look = ("look", self.local(), source.choice([0, 4]))
            body.append(source.choice([look, ("prepare", 0, self.expression())]))
        before = (("prepare", 0, 2),) if source.random() < 0.5 else ()
        after = (("look", self.local(), 0),) if source.random() < 0.3 else ()
        early = (("publish", self.local(), "null"),) if source.random() < 0.2 else ()
        return (("new",), *before, *early, ("loop", tuple(body)), *after)

    def writer(self) -> Body:
        """Writes what others wait for; perhaps only after it has seen something itself."""
        source = self.source
        writes = [
            self.write(0) if source.random() < 0.8 else self.statement(1, 0, self.helpers)
            for _ in range(source.choice([1, 2, 2, 3]))
        ]
        if source.random() < self.tries:
            writes = [("trylock", self.local()), *writes[:1]]
        if source.random() < self.peeks:
            peek = (("peek", self.local(), 0), ("peek", self.local(), 0), *((("withdraw",),) * (source.random() < 0.3)))
            writes = [*writes[:1], *peek]
        if source.random() < (0.6 if "locked" in self.rarities else 0.2):
            writes = [(source.choice(["locked", "critical"]), tuple(writes))]
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
    shared["top"] = builder.variable("top", PTR)
    shared["mutex"] = builder.mutex("mutex")
    shared["count"] = builder.variable("count", I32, shape.count)
    results = [builder.variable(f"result{index}") for index in range(len(shape.threads))]
    statements, loops = itertools.count(1), itertools.count() if probes else None
    _write_library(builder, shared["mutex"], tries="trylock" in str(shape))

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


def _write_library(builder: ProgramBuilder, mutex: Value, *, tries: bool) -> None:
    """Functions in the manner of the models, of one section each. A trylock that fails leaves a note for its own
    thread."""
    builder.thread_local("note")
    with builder.function("yield") as f:
        f.function.library = True
        f.ret()
    for name in ("lock", "unlock"):
        with builder.function(name, PTR, returns=I32) as f:
            f.function.library = True
            f.lock(f.parameters[0]) if name == "lock" else f.unlock(f.parameters[0])
            f.ret(0)
    if not tries:
        return
    with builder.function("trylock", returns=I32) as f:
        f.function.library = True
        failed = f.local("failed", I32, 0)
        with f.atomic():
            holder = f.load(mutex, PTR)
            with f.if_(f.eq(holder, NULL)):
                f.claim(mutex, "try")
                f.store(mutex, f.self())
            with f.else_():
                f.claim(mutex, "look")
                f.store(failed, 1)
        with f.if_(f.ne(f.load(failed), 0)):
            f.store(f.thread_local("note"), 1, I32)
        f.ret(f.load(failed))


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
        self.own = self.f.local("own", PTR, NULL)

    def run(self, body: Body) -> None:
        for statement in body:
            if self.f.ended:
                break
            self.f.at("shape", next(self.statements))
            self.write(statement)

    def write(self, statement: Statement) -> None:
        f, shared = self.f, self.shared
        top = shared["top"]
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
            case ("fetch", local, number):
                self.set(local, f.update("add", shared["count"], Constant(I32, number % 2**32)))
            case ("count add", number):
                f.update("add", shared["count"], Constant(I32, number % 2**32), used=False)
            case ("count", local):
                self.set(local, f.load(shared["count"], ordering="seq_cst"))
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
                if not f.ended:
                    f.unlock(shared["mutex"])
            case ("atomic", body):
                with f.atomic():
                    self.run(body)
            case ("lock",):
                f.call("lock", shared["mutex"], returns=I32)
            case ("give",):
                f.call("unlock", shared["mutex"], returns=I32)
            case ("critical", body):
                f.call("lock", shared["mutex"], returns=I32)
                self.run(body)
                if not f.ended:
                    f.call("unlock", shared["mutex"], returns=I32)
            case ("new",):
                f.store(self.own, f.malloc(8, zeroed=True))
            case ("prepare", offset, expression):
                f.store(f.offset(f.load(self.own), displacement=offset), self.value(expression), I32)
            case ("look", local, offset):
                self.set(local, f.load(f.offset(f.load(self.own), displacement=offset), I32))
            case ("publish", local, expected):
                own = f.load(self.own)
                seen = f.load(top, ordering="seq_cst") if expected == "seen" else own if expected == "own" else NULL
                _, success = f.compare_exchange(top, seen, own)
                self.set(local, success)
            case ("peek", local, offset):
                found = f.load(top, ordering="seq_cst")
                with f.if_(f.ne(found, NULL)):
                    self.set(local, f.load(f.offset(found, displacement=offset), I32))
            case ("withdraw",):
                f.store(top, NULL, ordering="seq_cst")
            case ("yield",):
                f.call("yield")
            case ("pause", times):
                count = f.local("i", I32, 0)
                end = self.value(times)
                with f.loop():
                    with f.if_(f.compare("sge", f.load(count), end)):
                        f.break_()
                    f.call("yield")
                    f.store(count, f.add(f.load(count), 1))
            case ("trylock", local):
                self.set(local, f.call("trylock", returns=I32))
            case ("note", local):
                self.set(local, f.load(f.thread_local("note"), I32))
            case ("unlock",):
                f.unlock(shared["mutex"])
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
    if shape.count:
        yield replace(shape, count=0)
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
