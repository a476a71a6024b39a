"""Random programs that may run for ever but have few states, as plain data that Hypothesis can shrink.

They are meant to break a search that runs threads in transactions. What such a search has to infer is right most of the
time: variables follow a rule of who accesses them when, threads break the rule on some ways only, often only after
they have seen what another thread wrote. And what ends a transaction often does not come: threads go round for ever,
stop, or fail after they have done what others can notice.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from mazurka.program.builder import NULL, FunctionBuilder, ProgramBuilder
from mazurka.program.instructions import Constant, GlobalAddress, Ordering, Register, Value
from mazurka.program.program import Program
from mazurka.program.types import I8, I32, I64, PTR

# Accesses to some variables are atomic, those to others plain. The last two lie side by side.
VARIABLES: dict[str, Ordering] = {"x": "plain", "y": "plain", "z": "seq_cst", "u": "plain", "v": "plain"}
LOCKS = {"m": 0, "n": 0, "r": 1}  # their kinds: the last one is recursive
LOCALS = ["a", "b"]
POINTERS = ["p", "q"]
UPDATES = ["exchange", "or", "and", "xor", "umax"]
PREDICATES = ["eq", "ne", "eq", "ne", "ult", "uge"]

# A lock is laid out as a mutex of the C library's models.
LOCK_SIZE, LOCK_DEPTH, LOCK_KIND = 24, 8, 16
BLOCK_LINK, BLOCK_LOCK, BLOCK_SIZE = 8, 16, 40

Statement = tuple[Any, ...]
Body = tuple[Statement, ...]
Condition = tuple[Any, ...]  # (predicate, local variable, number or local variable)
Expression = int | str  # a number or a local variable


@dataclass(frozen=True)
class StateShape:
    """A program: what each thread does. Thread 0 is main: it runs `before`, creates those of the others that its body
    does not, runs the body, joins the first `joined` of the others, and runs `after`. `nested`: each of the others
    creates the next one. `twins`: the last thread runs the same function as the last but one."""

    threads: tuple[Body, ...]
    before: Body = ()
    after: Body = ()
    joined: int = 0
    nested: bool = False
    twins: bool = False


def state_shapes() -> st.SearchStrategy[StateShape]:
    return st.randoms(use_true_random=False).map(random_state_shape)


def random_state_shape(source: random.Random) -> StateShape:
    return _Inventor(source).shape()


# ---------------------------------------------------------------------------------------------------- making them up


@dataclass
class _Inventor:
    """Makes up statements. Each variable has a rule, by which threads mostly abide. What is simple comes first among
    alternatives: that is where Hypothesis goes when it shrinks."""

    source: random.Random
    variables: list[str] = field(init=False)
    locks: list[str] = field(init=False)
    rules: dict[str, str] = field(init=False)
    features: list[str] = field(init=False)
    count: int = field(init=False)  # of threads
    thread: int = 0  # the one whose statements are being made up

    def __post_init__(self) -> None:
        source = self.source
        self.variables = source.sample(list(VARIABLES), source.choice([2, 2, 3]))
        self.locks = source.sample(list(LOCKS), source.choice([1, 1, 2]))
        self.count = source.choice([2, 2, 3, 3, 3, 4])
        self.rules = {
            name: source.choice(["none", "none", "section", "lock", "lock", "lock", "other lock", "owner", "flag"])
            for name in self.variables
        }
        kinds = ["heap", "heap", "sections", "waiting", "odd locks", "parts", "own", "calls", "ends", "updates"]
        self.features = source.sample(kinds, source.choice([0, 1, 1, 2, 2, 3]))
        self.breaches = source.choice([0.0, 0.1, 0.1, 0.3])
        self.endless = source.choice([0.1, 0.3, 0.6])

    def shape(self) -> StateShape:
        source = self.source
        match source.randrange(10):
            case 0 | 1 | 2 | 3:
                bodies = [self.body_of(index) for index in range(self.count)]
            case 4 | 5 | 6:
                bodies = self.handshake()
            case _:
                bodies = self.known()
        if self.chance(0.3):
            bodies = [self.mutated(body) if self.chance(0.6) else body for body in bodies]
        nested = len(bodies) > 2 and self.chance(0.1)
        if not nested and self.chance(0.25):
            bodies[0] = self.with_spawn(bodies[0], [source.randrange(1, len(bodies)) for _ in range(2)])
        joins = self.chance(0.4)
        after: Body = ()
        if joins and self.chance(0.6):
            self.thread = 0
            name = self.variable()
            after = (("load", "a", name), ("check", ("ne", "a", source.choice([1, 2]))))
        return StateShape(
            threads=tuple(bodies),
            before=self.first() if self.chance(0.3) else (),
            after=after,
            joined=source.randrange(len(bodies)) if joins else 0,
            nested=nested,
            twins=len(bodies) > 2 and not nested and self.chance(0.25),
        )

    def first(self) -> Body:
        """What main does while it is alone."""
        self.thread = 0
        statements: list[Statement] = [("store", self.variable(), self.source.choice([1, 2]))]
        if "heap" in self.features:
            statements += [("new", "p", True), ("put", "p", 1), ("publish", "p", 0)]
        return tuple(statements)

    def with_spawn(self, body: Body, threads: list[int]) -> Body:
        """A thread, one of two, is created in the middle of what main does, perhaps while it holds a lock."""
        position = self.source.randrange(len(body) + 1)
        spawn: Body = (("spawn", threads[0]),)
        if self.chance(0.3):
            spawn = ("choose", "b", 2), ("if", ("eq", "b", 0), spawn, (("spawn", threads[1]),))
        if self.chance(0.6):
            spawn = (("locked", self.lock(), (*spawn, *self.body(1, 1))),)
        return (*body[:position], *spawn, *body[position:])

    def body_of(self, thread: int) -> Body:
        """What a thread does: something once or again and again, and then perhaps nothing for ever."""
        source = self.source
        self.thread = thread
        if thread == 0 and not self.chance(0.7):
            return ()
        body = self.body(source.choice([1, 1, 2, 2, 3]) if self.count < 4 else source.choice([1, 1, 2]))
        match source.choice(["once"] * 9 + ["until it sees"] + ["until it chooses"] * 3 + ["for ever"] * 7):
            case "until it sees":
                way_out: Body = ("load", "a", self.variable()), ("if", self.condition("a"), (("break",),), ())
                return (("loop", (*body, *way_out)), *self.ending())
            case "until it chooses":
                way_out = ("choose", "a", 2), ("if", ("eq", "a", 0), (("break",),), ())
                return (("loop", (*way_out, *body)), *self.ending())
            case "for ever":
                return (*self.body(source.choice([0, 0, 1])), ("loop", body))
            case _:
                return (*body, *self.ending())

    def ending(self) -> Body:
        source = self.source
        if not self.chance(self.endless):
            return ()
        return (source.choice([*self.endings(), ("locked", self.lock(), self.endings()[:1]), ("exit",)]),)

    def endings(self) -> Body:
        """Ways of not going on."""
        endings: list[Statement] = [("spin",), ("spin",), ("idle for ever",), ("stop",), ("await", "z", 3)]
        self.source.shuffle(endings)
        return tuple(endings)

    def body(self, length: int, depth: int = 2) -> Body:
        return tuple(statement for _ in range(length) for statement in self.statements(depth))

    def statements(self, depth: int) -> Body:
        """A few statements that belong together."""
        source = self.source
        kinds = ["access"] * 6 + ["if", "if", "choose", "several", "several", "update", *self.features, *self.features]
        if not depth:
            kinds = ["access"]
        match source.choice(kinds):
            case "if":
                # What a thread does may depend on what others have done.
                then = self.body(1, depth - 1)
                other = source.choice([(), (), self.ending(), self.body(1, depth - 1)])
                return ("load", "a", self.variable()), ("if", self.condition("a"), then, other)
            case "choose":
                then = self.body(1, depth - 1)
                other = source.choice([(), self.ending(), self.body(1, depth - 1)])
                return ("choose", "b", 2), ("if", ("eq", "b", 0), then, other)
            case "several":
                lock = self.lock()
                inner = self.body(source.choice([1, 2, 2]), depth - 1)
                return (("locked", lock, inner),)
            case "update" | "updates":
                name, value = self.variable(), source.randrange(3)
                match source.randrange(4):
                    case 0:
                        return (("compare-exchange", "a", name, value, source.randrange(3)),)
                    case 1:
                        return (("quiet update", source.choice(UPDATES), name, value),)
                    case _:
                        return (("update", source.choice(UPDATES), "a", name, value), *self.judgement("a"))
            case "heap":
                return self.heap()
            case "sections":
                return (self.section(),)
            case "waiting":
                return self.waiting()
            case "odd locks":
                return self.odd_lock(depth)
            case "parts":
                return self.parts()
            case "own":
                return self.own()
            case "calls":
                return (("call", self.body(1, depth - 1)),)
            case "ends":
                return (source.choice([("end",), ("exit",), ("idle",), ("count", 20), ("spin",), ("fail",)]),)
            case _:
                return self.access(self.variable())

    def access(self, name: str) -> Body:
        """One or two accesses of a variable, by its rule or not."""
        source = self.source
        match source.choice(["write", "write", "read", "read", "read write"]):
            case "write":
                body: Body = (("store", name, source.choice([0, 1, 1, 2])),)
            case "read":
                body = (("load", "a", name), *self.judgement("a"))
            case _:
                body = ("load", "a", name), ("flip", "a"), ("store", name, "a")
        if self.chance(self.breaches):
            flag = self.variable()
            if self.chance(0.5):
                return body
            return ("load", "b", flag), ("if", self.condition("b"), body, ())
        match self.rules[name]:
            case "lock":
                return (("locked", self.locks[0], body),)
            case "other lock":
                return (("locked", self.locks[-1], body),)
            case "owner" if self.thread != 1:
                return ("load", "a", self.variable()), *self.judgement("a")
            case "flag":
                # Whoever has seen the flag may.
                flag = next((other for other in self.variables if other != name), name)
                if self.thread == 1:
                    return (*body, ("store", flag, 1))
                return ("load", "b", flag), ("if", ("eq", "b", 1), body, ())
            case "section":
                return (("section", body),)
            case _:
                return body

    def judgement(self, local: str) -> Body:
        source = self.source
        match source.choice(["none"] * 10 + ["check"] * 7 + ["assume"] * 2 + ["tell"]):
            case "check" | "assume" as kind:
                return ((kind, self.condition(local)),)
            case "tell":
                return (("tell",),)
            case _:
                return ()

    def section(self) -> Statement:
        source = self.source
        name, other, value = self.variable(), self.variable(), source.randrange(3)
        match source.randrange(6):
            case 0:
                return ("section", (("load", "a", name), ("store", other, "a")))
            case 1:
                return ("section", (("load", "a", name), ("if", ("eq", "a", value), (("store", other, 1),), ())))
            case 2:
                return ("section", (("choose", "a", 2), ("store", name, "a")))
            case 3:
                return ("section", (("lock", self.lock()), ("store", name, value)))
            case 4:
                lock = self.lock()
                return ("section", (("choose", "a", 2), ("if", ("eq", "a", 1), (("lock", lock), ("unlock", lock)), ())))
            case _:
                return ("section", (("store", name, value), ("store", other, value)))

    def waiting(self) -> Body:
        """Waiting for a variable, or for a signal while a lock is not held."""
        source = self.source
        name, value = self.variable(), source.choice([1, 1, 2])
        match source.randrange(6):
            case 0:
                return (("await", name, value),)
            case 1:
                return (("guard", name, value),)
            case 2:
                return (("busy wait", name, value),)
            case 3 | 4:
                lock = self.locks[0]
                loop = ("loop", (("load", "a", name), ("if", ("eq", "a", value), (("break",),), ()), ("wait", lock)))
                return (("locked", lock, (source.choice([loop, ("wait", lock)]),)),)
            case _:
                return (("locked", self.locks[0], (("store", name, value), ("signal",))),)

    def odd_lock(self, depth: int) -> Body:
        source = self.source
        lock, other = self.lock(), self.lock()
        body = self.body(1, depth - 1)
        match source.randrange(9):
            case 0 | 1:
                return (("trylock", lock, body, self.body(source.choice([0, 1]), depth - 1)),)
            case 2:
                return ("lock", lock), *body, ("lock", other), ("unlock", lock), ("unlock", other)
            case 3:
                return (("locked", lock, (("locked", other, body),)),)
            case 4:
                return ("lock", lock), *body, *self.ending(), ("unlock", lock)
            case 5:
                return (("look", "a", lock), *self.judgement("a"))
            case 6:
                return ("lock", lock), *body, ("trade", lock, other), ("unlock", other)
            case 7:
                return ("lock", lock), ("reset", lock), *body, ("lock", lock), *body, ("unlock", lock)
            case _:
                return (source.choice([("lock", lock), ("unlock", lock)]), *body)

    def parts(self) -> Body:
        """Accesses to parts of what others access as a whole."""
        source = self.source
        value = source.choice([0, 1, 2])
        name = source.choice(["u", "v"])
        write = source.choice([("store", name, value), ("whole", value), ("byte", source.randrange(8), value)])
        if self.chance(0.5):
            return ("load", "a", name), *self.judgement("a")
        return (("locked", self.lock(), (write,)),) if self.chance(0.7) else (write,)

    def heap(self) -> Body:
        """Blocks that are made, handed over, used and freed."""
        source = self.source
        pointer = source.choice(POINTERS)
        cell = source.randrange(2)
        make: list[Statement] = [("new", pointer, self.chance(0.7))]
        use: list[Statement] = [("put", pointer, source.randrange(3))]
        look: list[Statement] = [("get", "a", pointer), *self.judgement("a")]
        if self.chance(0.3):
            # Each block has a lock of its own.
            use, look = [("hold", pointer, tuple(use))], [("hold", pointer, tuple(look))]
        match source.randrange(9):
            case 0:
                body = make + use + look + [("free", pointer, True)]
            case 1:
                body = [*make, *use, ("publish", pointer, cell)]
            case 2:
                body = [("take", pointer, cell), *look, ("free", pointer, self.chance(0.7))]
            case 3:
                body = [("peek", pointer, cell), *source.choice([use, look])]
            case 4:
                body = [("peek", "p", 0), ("peek", "q", source.randrange(2)), ("same", "a"), *self.judgement("a")]
            case 5:
                body = make + use + [("drop", pointer)]
            case 6:
                body = [*make, *use, ("link", pointer, cell), ("publish", pointer, cell)]
            case 7 if self.chance(0.3):
                # To whom addresses are numbers, they matter.
                body = [("peek", "p", 0), ("peek", "q", 1), ("below", "a"), *self.judgement("a")]
            case _:
                body = [("take", pointer, cell), *use, ("publish", pointer, 1 - cell), ("drop", pointer)]
        if self.chance(0.4):
            return (("locked", self.locks[0], tuple(body)),)
        return tuple(body)

    def own(self) -> Body:
        """Variables of a thread, the addresses of which it may give away."""
        source = self.source
        kind = source.choice(["stack", "thread-local"])
        match source.randrange(4):
            case 0:
                return (("publish own", kind, source.randrange(2)),)
            case 1:
                return (("set own", kind, source.randrange(3)),)
            case 2:
                return (("get own", "a", kind), *self.judgement("a"))
            case _:
                return ("peek", "p", source.randrange(2)), ("put", "p", source.randrange(3))

    def mutated(self, body: Body) -> Body:
        """The same with something more, something less, or in another order."""
        source = self.source
        statements = list(body)
        position = source.randrange(len(statements) + 1)
        match source.randrange(4):
            case 0 if statements:
                del statements[position - 1]
            case 1:
                statements[position:position] = self.statements(1)
            case 2:
                statements[position:position] = self.ending()
            case _:
                source.shuffle(statements)
        return tuple(statements)

    def known(self) -> list[Body]:
        """Programs in which a transaction does not end, or of which only some ways are as they look."""
        source = self.source
        x, y = source.sample(self.variables, 2)
        lock, other = self.locks[0], self.locks[-1]
        spin = self.endings()[0]
        watch = ("load", "a", x), ("check", ("eq", "a", source.choice([0, 0, 1])))
        guarded = (("locked", lock, watch),)
        match source.randrange(20):
            case 0:  # The transaction that writes x does not end.
                threads: list[Body] = [(("store", x, 1), spin), watch]
            case 1:  # It does in one case.
                threads = [(("store", x, 1), ("choose", "b", 2), ("if", ("eq", "b", 0), (spin,), ())), watch]
            case 2:  # It does in neither case.
                threads = [
                    (("store", x, 1), ("choose", "b", 2), ("if", ("eq", "b", 0), (spin,), (self.endings()[0],))),
                    watch,
                ]
            case 3:  # It goes on to the left after it has committed.
                threads = [(("locked", lock, (("store", y, 2), ("store", x, 1))), spin), guarded, (("store", y, 1),)]
            case 4:  # Only who has seen y looks at x.
                threads = [
                    (("store", x, 1), ("store", x, 0), ("store", y, 1), ("store", x, 1)),
                    (("load", "b", y), ("if", ("eq", "b", 1), guarded, ())),
                ]
            case 5:
                threads = [
                    (("locked", lock, (("store", x, 1), ("store", y, 1), ("store", x, 0))), ("store", x, 1)),
                    (("load", "b", y), ("if", ("eq", "b", 1), guarded, ())),
                ]
            case 6:  # Two threads that never end.
                threads = [(("store", x, 1), spin), (("store", y, 1), self.endings()[0])]
                threads.append((("load", "a", x), ("load", "b", y), ("check", ("ne", "a", "b"))))
            case 7:  # Locks in two orders.
                threads = [
                    (("loop", (("locked", lock, (("locked", other, (("store", x, 1),)),)),)),),
                    (("loop", (("locked", other, (("locked", lock, (("store", x, 0),)),)),)),),
                ]
            case 8:  # Handing over, back and forth.
                threads = [
                    (("loop", (("busy wait", y, 0), ("store", x, 1), ("store", y, 1))),),
                    (("loop", (("busy wait", y, 1), *watch, ("store", y, 0))),),
                ]
            case 9:  # Blocks that are handed over.
                threads = [
                    (("loop", (("new", "p", False), ("put", "p", 1), ("publish", "p", 0))),),
                    (("loop", (("take", "p", 0), ("get", "a", "p"), ("check", ("eq", "a", 1)), ("free", "p", True))),),
                ]
            case 10:  # A lock that is not released.
                threads = [
                    (("loop", (("locked", lock, (("load", "a", x), ("if", ("eq", "a", 1), (spin,), ()))),)),),
                    (("store", x, 1), ("locked", lock, (("store", x, 0),))),
                ]
            case 11:  # Nothing but right movers while somebody looks.
                threads = [(("locked", lock, (("store", x, 1),)),), (("look", "a", lock), ("check", ("eq", "a", 0)))]
            case 12:
                threads = [(("locked", lock, (("store", x, 1),)), spin), (("trylock", lock, watch, (("fail",),)),)]
            case 13:  # Whether a value is there depends on a choice.
                written = ("choose", "b", 2), ("if", ("eq", "b", 0), (("put", "p", 0),), ())
                threads = [
                    (("new", "p", False), *written, ("store", y, 0), ("get", "a", "p"), ("check", ("eq", "a", 0)))
                ]
                threads.append(self.body(1))
            case 14 | 15:  # What others can see is changed by its maker.
                make, change = source.choice(
                    [
                        ((("new", "p", True), ("publish", "p", 0)), ("put", "p", 1)),
                        ((("publish own", "stack", 0),), ("set own", "stack", 1)),
                        ((("publish own", "thread-local", 0),), ("set own", "thread-local", 1)),
                    ]
                )
                see = ("get", "a", "p"), ("check", ("eq", "a", source.choice([0, 1])))
                threads = [
                    (*make, ("store", y, 1), change, ("store", y, 2), spin),
                    (("load", "b", y), ("if", ("eq", "b", source.choice([1, 2])), (("peek", "p", 0), *see), ())),
                ]
            case 16:  # A thread that is made in the middle of a transaction.
                threads = [
                    (("locked", lock, (("spawn", 1), ("store", y, 1))),),
                    (("load", "a", y), ("check", ("eq", "a", 1))),
                ]
                return threads
            case 17:  # Two threads come to wait for each other by what a third one does.
                threads = [
                    (("locked", other, (("locked", lock, (("wait", lock),)),)),),
                    (("locked", lock, (("locked", other, (("store", x, 1),)),)),),
                    (("signal",), spin),
                ]
            case 18:  # One of them need not wait.
                detour = ("choose", "a", 2), ("if", ("eq", "a", 1), (("lock", lock), ("unlock", lock)), ())
                threads = [
                    (("locked", other, (("section", detour),)),),
                    (("locked", lock, (("locked", other, (("store", x, 1),)),)),),
                ]
            case _:  # A thread that stops after it has committed.
                writes = source.sample([("store", x, 1), ("store", y, 1)], 2)
                threads = [
                    (("locked", lock, tuple(writes)), ("stop",)),
                    (("load", "b", y), ("if", ("eq", "b", 1), source.choice([watch, guarded]), ())),
                ]
        return self.cast(threads)

    def handshake(self) -> list[Body]:
        """Some threads write, and perhaps never end; others look at what is written last only if they have seen what
        is written first."""
        source = self.source
        names = source.sample(self.variables, 2)
        writers = [self.writer(names) for _ in range(source.choice([1, 1, 1, 2]))]
        observers = [self.observer(*names) for _ in range(source.choice([1, 1, 2]))]
        return self.cast(writers + observers)

    def writer(self, names: list[str]) -> Body:
        source = self.source
        statements: list[Statement] = []
        for name in (*source.choices(names, k=source.choice([0, 0, 1])), *names):
            write: Statement = ("store", name, source.choice([1, 1, 1, 2]))
            if self.chance(0.15):
                write = ("update", source.choice(UPDATES), "b", name, 1)
            elif name in "uv" and self.chance(0.5):
                write = ("whole", 1)
            statements.append(write)
            if self.chance(0.15):
                statements += [("choose", "b", 2), ("if", ("eq", "b", 0), self.endings()[:1], ())]
        if self.chance(0.7):
            # Some of it under a lock, the rest before or behind.
            begin, end = sorted(source.sample(range(len(statements) + 1), 2))
            statements[begin:end] = [("locked", self.lock(), tuple(statements[begin:end]))]
        if self.chance(0.7):
            statements.append(self.endings()[0])
        return (("loop", tuple(statements)),) if self.chance(0.2) else tuple(statements)

    def observer(self, flag: str, name: str) -> Body:
        source = self.source
        look: Body = ("load", "a", name), source.choice([("check", self.condition("a")), ("tell",)])
        if self.chance(0.4):
            look = (("locked", self.lock(), look),)
        body: Body = ("load", "b", flag), ("if", (source.choice(["eq", "uge", "ne"]), "b", 1), look, ())
        if self.chance(0.2):
            body = ("load", "b", flag), *look
        if self.chance(0.2):
            body = (("locked", self.lock(), body),)
        return (("loop", body),) if self.chance(0.2) else body

    def cast(self, threads: list[Body]) -> list[Body]:
        """Who does it: main does something, too, as a rule."""
        source = self.source
        source.shuffle(threads)
        self.thread = len(threads)
        if len(threads) < 3 and self.chance(0.3):
            threads.append(self.body(1))
        return threads if self.chance(0.6) else [(), *threads]

    def chance(self, probability: float) -> bool:
        return self.source.random() > 1 - probability

    def variable(self) -> str:
        return self.source.choice(self.variables)

    def lock(self) -> str:
        return self.source.choice(self.locks)

    def condition(self, local: str) -> Condition:
        return (self.source.choice(PREDICATES), local, self.source.choice([0, 1, 1, 2]))


# ------------------------------------------------------------------------------------------------------ writing them


def build(shape: StateShape, finish: Callable[[FunctionBuilder, dict[str, Value]], None] | None = None) -> Program:
    """The program of a shape; `finish` writes what main does last, if it gets there."""
    builder = ProgramBuilder()
    shared: dict[str, Value] = {name: builder.variable(name) for name in ("x", "y", "z", "waiters", "signals")}
    for name, kind in LOCKS.items():
        shared[name] = builder.data(name, kind.to_bytes(LOCK_SIZE - LOCK_KIND, "little").rjust(LOCK_SIZE, b"\0"))
    shared["pair"] = shared["u"] = builder.array("pair", I32, [0, 0])
    shared["v"] = GlobalAddress("pair", 4)
    shared["cells"] = builder.array("cells", PTR, [0, 0])
    builder.thread_local("own")
    helpers = itertools.count()
    last = len(shape.threads) - 1
    functions = [f"thread{index}" for index in range(last + 1)]
    if shape.twins:
        functions[last] = functions[last - 1]
    later = _spawned(shape.threads[0])

    def write(f: FunctionBuilder, *bodies: Body) -> None:
        _Writer(builder, f, shared, helpers, functions).run(tuple(itertools.chain(*bodies)))

    for index in range(1, last + 1):
        if functions[index] not in builder.program.functions:
            with builder.function(functions[index]) as f:
                spawn = (("spawn", index + 1),) if shape.nested and index < last else ()
                write(f, spawn, shape.threads[index])
    with builder.function("main") as f:
        first = range(1, min(2, last + 1) if shape.nested else last + 1)
        spawns = tuple(("spawn", index) for index in first if index not in later)
        joins = tuple(("join", index) for index in range(1, shape.joined + 1))
        write(f, shape.before, spawns, shape.threads[0], joins, shape.after)
        if finish is not None and not f.ended:
            finish(f, shared)
    return builder.build()


def _spawned(body: Body) -> set[int]:
    """The threads that statements create."""
    found = {statement[1] for statement in body if statement[0] == "spawn"}
    parts = (part for statement in body for part in statement if isinstance(part, tuple))
    return found.union(*(_spawned(part) for part in parts if part and isinstance(part[0], tuple)))


@dataclass
class _Writer:
    """Writes statements into a function."""

    builder: ProgramBuilder
    f: FunctionBuilder
    shared: dict[str, Value]
    helpers: Iterator[int]
    functions: Sequence[str]  # of the threads
    depth: int = 0  # of loops

    def __post_init__(self) -> None:
        self.locals = {name: self.f.local(name, I32, 0) for name in (*LOCALS, "own")}
        handles = [f"thread{index}" for index in range(len(self.functions))]
        self.locals |= {name: self.f.local(name, PTR, 0) for name in (*POINTERS, *handles)}

    def run(self, body: Sequence[Statement]) -> None:
        for statement in body:
            if self.f.ended:
                break
            self.write(statement)

    def write(self, statement: Statement) -> None:
        f, shared, local = self.f, self.shared, self.locals
        match statement:
            # ------------------------------------------------------------------------ variables
            case ("load", name, variable):
                f.store(local[name], f.load(shared[variable], ordering=VARIABLES[variable]))
            case ("store", variable, expression):
                f.store(shared[variable], self.value(expression), ordering=VARIABLES[variable])
            case ("update", op, name, variable, value):
                f.store(local[name], f.update(op, shared[variable], value))
            case ("quiet update", op, variable, value):
                f.update(op, shared[variable], value, used=False)
            case ("compare-exchange", name, variable, expected, desired):
                f.store(local[name], f.compare_exchange(shared[variable], expected, desired)[0])
            case ("choose", name, count):
                f.store(local[name], f.choose(count))
            case ("flip", name):
                f.store(local[name], f.xor(f.and_(self.value(name), 1), 1))
            case ("whole", value):
                f.store(shared["pair"], Constant(I64, value * (2**32 + 1)))
            case ("byte", index, value):
                f.store(f.offset(shared["pair"], index), value, I8)
            # --------------------------------------------------------------------------- control
            case ("if", condition, then, otherwise):
                with f.if_(self.truth(condition)):
                    self.run(then)
                if otherwise:
                    with f.else_():
                        self.run(otherwise)
            case ("loop", body):
                with self.loop():
                    self.run(body)
            case ("break",):
                if self.depth:
                    f.break_()
            case ("call", body):
                name = f"helper{next(self.helpers)}"
                with self.builder.function(name) as helper:
                    _Writer(self.builder, helper, shared, self.helpers, self.functions).run(body)
                f.call(name)
            case ("check", condition):
                f.check(self.truth(condition))
            case ("assume", condition):
                f.assume(self.truth(condition))
            case ("fail",):
                f.fail("abort", "failed")
            case ("tell",):
                # Fails elsewhere for other values of the local variables: what can be seen here is a set of bugs.
                for pair in itertools.product(range(3), repeat=2):
                    first, second = (
                        f.eq(f.load(local[name]), number) for name, number in zip(LOCALS, pair, strict=True)
                    )
                    with f.if_(f.and_(first, second)):
                        f.fail("assertion", f"a and b are {pair}")
            case ("stop",):
                f.assume(0)
            case ("end",):
                f.end_thread()
            case ("exit",):
                f.exit(0)
            case ("spawn", thread):
                # Once only: there are to be finitely many threads.
                handle = local[f"thread{thread}"]
                with f.if_(f.eq(f.load(handle), NULL)):
                    f.store(handle, f.spawn(self.functions[thread]))
            case ("join", thread):
                with self.unless_null(f"thread{thread}") as handle:
                    f.join(handle)
            # ------------------------------------------------------------------- going round alone
            case ("spin",):
                with f.loop():
                    pass
            case ("idle",):
                with f.loop(), f.if_(f.eq(f.choose(2), 0)):
                    f.break_()
            case ("idle for ever",):
                with f.loop():
                    f.choose(2)
            case ("count", rounds):
                with f.repeat(rounds):
                    pass
            # --------------------------------------------------------------------------- waiting
            case ("section", body):
                with f.atomic():
                    self.run(body)
            case ("await", variable, value):
                with f.atomic():
                    f.await_(f.eq(f.load(shared[variable]), value), "flag", shared[variable])
            case ("guard", variable, value):
                f.load(shared[variable], guard=lambda found: f.eq(found, value))
            case ("busy wait", variable, value):
                with f.loop(), f.if_(f.eq(f.load(shared[variable], ordering=VARIABLES[variable]), value)):
                    f.break_()
            case ("wait", lock):
                # A condition variable: how many wait, and how many of them may go on.
                with f.atomic():
                    self.release(shared[lock])
                    f.update("add", shared["waiters"], 1, used=False)
                with f.atomic():
                    f.await_(f.sgt(f.load(shared["signals"]), 0), "signal", shared["signals"])
                    f.update("sub", shared["signals"], 1, used=False)
                    self.acquire(shared[lock])
            case ("signal",):
                with f.atomic(), f.if_(f.sgt(f.load(shared["waiters"]), 0)):
                    f.update("sub", shared["waiters"], 1, used=False)
                    f.update("add", shared["signals"], 1, used=False)
            # ----------------------------------------------------------------------------- locks
            case ("lock", lock):
                with f.atomic():
                    self.acquire(shared[lock])
            case ("unlock", lock):
                with f.atomic():
                    self.release(shared[lock])
            case ("locked", lock, body):
                self.write(("lock", lock))
                self.run(body)
                if not f.ended:
                    self.write(("unlock", lock))
            case ("reset", lock):
                # As if it were new, whoever holds it.
                f.store(shared[lock], NULL, PTR)
            case ("trade", lock, other):
                with f.atomic():
                    self.release(shared[lock])
                    self.acquire(shared[other])
            case ("trylock", lock, body, otherwise):
                with f.if_(self.try_to_acquire(shared[lock])):
                    self.run(body)
                    if not f.ended:
                        self.write(("unlock", lock))
                if otherwise:
                    with f.else_():
                        self.run(otherwise)
            case ("look", name, lock):
                # Whether it is held, without its being asked for properly.
                f.store(local[name], f.convert("zext", f.ne(f.load(shared[lock], PTR), NULL), I32))
            # ------------------------------------------------------------------------------ heap
            case ("new", pointer, zeroed):
                # A value, a pointer to another block, and a lock.
                block = f.malloc(BLOCK_SIZE, zeroed=zeroed)
                if not zeroed:
                    for offset in range(BLOCK_LINK, BLOCK_SIZE, 8):
                        f.store(f.offset(block, offset), NULL, PTR)
                f.store(local[pointer], block)
            case ("put", pointer, value):
                with self.unless_null(pointer) as block:
                    f.store(block, value, I32)
            case ("get", name, pointer):
                with self.unless_null(pointer) as block:
                    f.store(local[name], f.load(block, I32))
            case ("link", pointer, cell):
                # The block that was published, and that alone, can be reached from the new one.
                with self.unless_null(pointer) as block:
                    old = f.load(self.cell(cell), PTR)
                    with f.if_(f.ne(old, NULL)):
                        f.store(f.offset(old, BLOCK_LINK), NULL, PTR)
                    f.store(f.offset(block, BLOCK_LINK), old, PTR)
            case ("hold", pointer, body):
                with self.unless_null(pointer) as block:
                    lock = f.offset(block, BLOCK_LOCK)
                    with f.atomic():
                        self.acquire(lock)
                    self.run(body)
                    if not f.ended:
                        with f.atomic():
                            self.release(lock)
            case ("free", pointer, forget):
                f.free(f.load(local[pointer]))
                if forget:
                    f.store(local[pointer], NULL)
            case ("drop", pointer):
                f.store(local[pointer], NULL)
            case ("publish", pointer, cell):
                f.store(self.cell(cell), f.load(local[pointer]))
            case ("take", pointer, cell):
                f.store(local[pointer], f.update("exchange", self.cell(cell), NULL))
            case ("peek", pointer, cell):
                f.store(local[pointer], f.load(self.cell(cell), PTR))
            case ("same", name):
                f.store(local[name], f.convert("zext", f.eq(f.load(local["p"]), f.load(local["q"])), I32))
            case ("below", name):
                f.store(local[name], f.convert("zext", f.compare("ult", f.load(local["p"]), f.load(local["q"])), I32))
            # ------------------------------------------------------------------ a thread's own
            case ("publish own", kind, cell):
                f.store(self.cell(cell), self.own(kind))
            case ("set own", kind, value):
                f.store(self.own(kind), value)
            case ("get own", name, kind):
                f.store(local[name], f.load(self.own(kind)))
            case _:
                raise AssertionError(statement)

    @contextmanager
    def loop(self) -> Iterator[None]:
        self.depth += 1
        with self.f.loop():
            yield
        self.depth -= 1

    @contextmanager
    def unless_null(self, pointer: str) -> Iterator[Register]:
        block = self.f.load(self.locals[pointer])
        with self.f.if_(self.f.ne(block, NULL)):
            yield block

    def cell(self, index: int) -> Register:
        return self.f.element(self.shared["cells"], index)

    def own(self, kind: str) -> Value:
        return self.f.thread_local("own") if kind == "thread-local" else self.locals["own"]

    # ---------------------------------------------------------------------------------------- locks

    def acquire(self, lock: Value) -> None:
        """In a section: wait for a lock and take it, or take it once more."""
        f = self.f
        owner, kind = f.load(lock, PTR), f.load(f.offset(lock, LOCK_KIND), I32)
        with f.if_(f.and_(f.eq(owner, f.self()), f.eq(kind, 1))):
            f.claim(lock, "keep")
            self.deepen(lock, 1)
        with f.else_():
            f.claim(lock, "acquire")
            f.await_(f.eq(owner, NULL), "mutex", lock, owner)
            f.store(lock, f.self())

    def release(self, lock: Value) -> None:
        f = self.f
        owner = f.load(lock, PTR)
        f.check(f.eq(owner, f.self()), "unlock of a lock that this thread does not hold", "sync")
        with f.if_(f.ne(f.load(f.offset(lock, LOCK_DEPTH), I32), 0)):
            f.claim(lock, "keep")
            self.deepen(lock, -1)
        with f.else_():
            f.claim(lock, "release")
            f.store(lock, NULL)

    def try_to_acquire(self, lock: Value) -> Value:
        f = self.f
        result = f.local("result", I8, 0)
        with f.atomic():
            with f.if_(f.eq(f.load(lock, PTR), NULL)):
                f.claim(lock, "try")
                f.store(lock, f.self())
                f.store(result, 1)
            with f.else_():
                f.claim(lock, "look")
        return f.ne(f.load(result), 0)

    def deepen(self, lock: Value, by: int) -> None:
        # Not for ever: there are to be finitely many states.
        depth = self.f.offset(lock, LOCK_DEPTH)
        self.f.store(depth, self.f.and_(self.f.add(self.f.load(depth, I32), by), 3))

    # --------------------------------------------------------------------------------------- values

    def value(self, expression: Expression) -> Value:
        return Constant(I32, expression) if isinstance(expression, int) else self.f.load(self.locals[expression])

    def truth(self, condition: Condition) -> Value:
        predicate, left, right = condition
        return self.f.compare(predicate, self.value(left), self.value(right))
