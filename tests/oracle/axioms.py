"""Which executions weak memory models allow, from the axioms: all candidate graphs of a small litmus test, filtered.

A graph is events in program order (`po`), for each read the write that it reads from (`rf`), and for each location the
order of its writes (`mo`). The candidates are all of them that the threads can produce, as long as no value comes out
of thin air: po ∪ rf has no cycles, which all models here require. What filters them is written as the papers write it,
in relations, and nothing is clever: this judges searches that are.

sc   Lamport: one order of everything.
tso  x86, as in Alglave, Maranget and Tautschnig, "Herding cats" (TOPLAS 2014). A locked instruction is a full fence,
     also a compare-exchange that fails; so is a store that is seq_cst, which compilers make an exchange.
pso  The same without the order of writes to different locations, unless the later one releases or a fence that
     releases stands between.
ra   Release-acquire: every access is one, whatever it says. Fences that are seq_cst are as in RC11.
c11  RC11: Lahav, Vafeiadis, Kang, Hur and Dreyer, "Repairing sequential consistency in C/C++11" (PLDI 2017), with the
     release sequences of C++20: those of updates alone.

Accesses of one update are one event, which reads and writes. All locations are 0 at first, and so are registers. The
initial writes come before everything in program order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import product
from operator import or_
from typing import Literal, TypeAlias

Order = Literal["plain", "relaxed", "acquire", "release", "acq_rel", "seq_cst"]
ACQUIRING: tuple[Order, ...] = ("acquire", "acq_rel", "seq_cst")
RELEASING: tuple[Order, ...] = ("release", "acq_rel", "seq_cst")

# ------------------------------------------------------------------------------------------------------ programs

Expression: TypeAlias = "int | tuple[str, int]"
"""A number, or a register plus a number."""


@dataclass(frozen=True)
class Load:
    register: str
    location: str
    order: Order = "relaxed"


@dataclass(frozen=True)
class Store:
    location: str
    value: Expression
    order: Order = "relaxed"


@dataclass(frozen=True)
class Update:
    """The register, if there is one, gets the old value."""

    register: str | None
    location: str
    operation: Literal["add", "exchange"]
    operand: Expression
    order: Order = "relaxed"


@dataclass(frozen=True)
class CompareExchange:
    """The register gets the old value. If that is not the expected one, this only reads."""

    register: str
    location: str
    expected: int
    desired: int
    order: Order = "relaxed"
    failure: Order = "relaxed"


@dataclass(frozen=True)
class Fence:
    order: Order


@dataclass(frozen=True)
class SkipUnless:
    """Pass over so many operations, unless the register has the value."""

    register: str
    value: int
    count: int


@dataclass(frozen=True)
class Assume:
    """The thread stays here for good, unless the register has the value."""

    register: str
    value: int


Operation = Load | Store | Update | CompareExchange | Fence | SkipUnless | Assume


@dataclass(frozen=True)
class Litmus:
    """Threads that start together; everything is over when all have ended."""

    threads: tuple[tuple[Operation, ...], ...]

    @cached_property
    def locations(self) -> tuple[str, ...]:
        accesses = (operation for thread in self.threads for operation in thread)
        return tuple(sorted({a.location for a in accesses if isinstance(a, Load | Store | Update | CompareExchange)}))

    def registers(self, thread: int) -> tuple[str, ...]:
        """Those that a thread sets, in the order in which it does so first."""
        reads = (operation for operation in self.threads[thread])
        names = [read.register for read in reads if isinstance(read, Load | Update | CompareExchange)]
        return tuple(dict.fromkeys(name for name in names if name is not None))


@dataclass(frozen=True)
class Outcome:
    """How an execution ends: `registers` of each thread, in the order of `Litmus.registers`, and what is left in
    memory, in the order of `Litmus.locations`."""

    registers: tuple[tuple[int, ...], ...]
    memory: tuple[int, ...]


# ----------------------------------------------------------------------------------------------------- relations


@dataclass(frozen=True)
class Relation:
    """Pairs of events, which are numbers: for each, the set of those that it is related to, as bits."""

    rows: tuple[int, ...]

    @staticmethod
    def of(size: int, pairs: Iterable[tuple[int, int]]) -> Relation:
        rows = [0] * size
        for first, second in pairs:
            rows[first] |= 1 << second
        return Relation(tuple(rows))

    @staticmethod
    def identity(size: int, members: int = -1) -> Relation:
        """[S]: each of the set with itself."""
        return Relation(tuple((1 << index) & members for index in range(size)))

    @staticmethod
    def product(size: int, first: int, second: int) -> Relation:
        """S × T."""
        return Relation(tuple(second if first >> index & 1 else 0 for index in range(size)))

    def __or__(self, other: Relation) -> Relation:
        return Relation(tuple(mine | others for mine, others in zip(self.rows, other.rows, strict=True)))

    def __and__(self, other: Relation) -> Relation:
        return Relation(tuple(mine & others for mine, others in zip(self.rows, other.rows, strict=True)))

    def __sub__(self, other: Relation) -> Relation:
        return Relation(tuple(mine & ~others for mine, others in zip(self.rows, other.rows, strict=True)))

    def __matmul__(self, other: Relation) -> Relation:
        """r ; s"""
        return Relation(tuple(reduce(or_, (other.rows[i] for i in _bits(row)), 0) for row in self.rows))

    def __invert__(self) -> Relation:
        """r⁻¹"""
        pairs = ((second, first) for first, row in enumerate(self.rows) for second in _bits(row))
        return Relation.of(len(self.rows), pairs)

    @property
    def optional(self) -> Relation:
        """r?"""
        return self | Relation.identity(len(self.rows))

    @property
    def plus(self) -> Relation:
        """r⁺"""
        rows = list(self.rows)
        for middle in range(len(rows)):
            bit, reached = 1 << middle, rows[middle]
            for index, row in enumerate(rows):
                if row & bit:
                    rows[index] = row | reached
        return Relation(tuple(rows))

    @property
    def irreflexive(self) -> bool:
        return not any(row >> index & 1 for index, row in enumerate(self.rows))

    @property
    def acyclic(self) -> bool:
        return self.plus.irreflexive


def _bits(row: int) -> Iterator[int]:
    while row:
        yield (row & -row).bit_length() - 1
        row &= row - 1


# -------------------------------------------------------------------------------------------------------- graphs

Label = tuple[int, int]  # the thread and the position of an operation; (-1, number of a location) for initial writes


@dataclass(frozen=True)
class Event:
    label: Label
    order: Order
    location: str | None = None  # None: a fence
    read: int | None = None
    written: int | None = None
    locked: bool = False  # an update or a compare-exchange, even one that fails


@dataclass(frozen=True)
class Run:
    """What all threads do, and where reads read from; the order of writes is open. `complete`: all have ended."""

    litmus: Litmus
    events: tuple[Event, ...]
    sources: dict[int, int]  # for each read, the write that it reads from
    registers: tuple[tuple[int, ...], ...]
    complete: bool

    def where(self, holds: Callable[[Event], bool]) -> int:
        """A set of events."""
        return sum(1 << index for index, event in enumerate(self.events) if holds(event))

    def only(self, holds: Callable[[Event], bool]) -> Relation:
        return Relation.identity(self.size, self.where(holds))

    @cached_property
    def size(self) -> int:
        return len(self.events)

    @cached_property
    def po(self) -> Relation:
        pairs = product(enumerate(self.events), repeat=2)
        return Relation.of(self.size, ((i, j) for (i, a), (j, b) in pairs if _before(a.label, b.label)))

    @cached_property
    def rf(self) -> Relation:
        return Relation.of(self.size, ((write, read) for read, write in self.sources.items()))

    @cached_property
    def external(self) -> Relation:
        pairs = product(enumerate(self.events), repeat=2)
        return Relation.of(self.size, ((i, j) for (i, a), (j, b) in pairs if a.label[0] != b.label[0]))

    @cached_property
    def same_location(self) -> Relation:
        pairs = product(enumerate(self.events), repeat=2)
        same = ((i, j) for (i, a), (j, b) in pairs if a.location is not None and a.location == b.location)
        return Relation.of(self.size, same)

    @cached_property
    def accesses(self) -> Relation:
        return self.only(lambda event: event.location is not None)

    @cached_property
    def reads(self) -> int:
        return self.where(lambda event: event.read is not None)

    @cached_property
    def writes(self) -> int:
        return self.where(lambda event: event.written is not None)

    @cached_property
    def sc_fences(self) -> Relation:
        return self.only(lambda event: event.location is None and event.order == "seq_cst")

    # tso, pso

    @cached_property
    def fenced(self) -> Relation:
        """What is in order because of a full fence, or of an access that is one."""
        full = self.only(
            lambda event: (
                event.locked or (event.order == "seq_cst" and (event.location is None or event.written is not None))
            )
        )
        return (self.po.optional @ full @ self.po) | (self.po @ full)

    @cached_property
    def tso_order(self) -> Relation:
        kept = self.accesses @ self.po @ self.accesses - Relation.product(self.size, self.writes, self.reads)
        return kept | self.fenced

    @cached_property
    def pso_order(self) -> Relation:
        write = Relation.identity(self.size, self.writes)
        open_pairs = write @ self.po @ write - self.same_location
        releasing = self.only(lambda event: event.written is not None and (event.order in RELEASING or event.locked))
        fence = self.only(lambda event: event.location is None and event.order in RELEASING)
        kept = (write @ self.po @ releasing) | (write @ self.po @ fence @ self.po @ write)
        plain_order = self.accesses @ self.po @ self.accesses - Relation.product(self.size, self.writes, self.reads)
        return (plain_order - open_pairs) | kept | self.fenced

    # ra

    @cached_property
    def ra_hb(self) -> Relation:
        return (self.po | self.rf).plus

    # c11

    @cached_property
    def sw(self) -> Relation:
        """[E⊒rel] ; ([F] ; po)? ; rs ; rf ; [R⊒rlx] ; (po ; [F])? ; [E⊒acq], with rs = [W⊒rlx] ; (rf ; rmw)*."""
        everything = Relation.identity(self.size)
        fence = self.only(lambda event: event.location is None)
        write = self.only(lambda event: event.written is not None and event.order != "plain")
        read = self.only(lambda event: event.read is not None and event.order != "plain")
        update = self.only(lambda event: event.read is not None and event.written is not None)
        release = self.only(lambda event: event.order in RELEASING)
        acquire = self.only(lambda event: event.order in ACQUIRING)
        rs = write @ (self.rf @ update).plus.optional
        return release @ (fence @ self.po | everything) @ rs @ self.rf @ read @ (self.po @ fence | everything) @ acquire

    @cached_property
    def hb(self) -> Relation:
        return (self.po | self.sw).plus

    @cached_property
    def races(self) -> bool:
        """Whether two accesses conflict, one of them plain, and neither happens before the other."""
        plain = self.where(lambda event: event.location is not None and event.order == "plain")
        conflicts = self._one_of(plain) & self._one_of(self.writes) & self.same_location
        return any((conflicts - Relation.identity(self.size) - self.hb - ~self.hb).rows)

    def _one_of(self, members: int) -> Relation:
        """Pairs of which one is in the set."""
        return Relation.product(self.size, members, -1) | Relation.product(self.size, -1, members)


@dataclass(frozen=True)
class Graph:
    """A run, and for each location its writes in order."""

    run: Run
    orders: tuple[tuple[int, ...], ...]

    @cached_property
    def mo(self) -> Relation:
        pairs = ((a, b) for order in self.orders for i, a in enumerate(order) for b in order[i + 1 :])
        return Relation.of(self.run.size, pairs)

    @cached_property
    def fr(self) -> Relation:
        """From a read to the writes after the one that it reads from; an update is not before itself."""
        return ~self.run.rf @ self.mo - Relation.identity(self.run.size)

    @cached_property
    def eco(self) -> Relation:
        return (self.run.rf | self.mo | self.fr).plus

    @cached_property
    def coherent(self) -> bool:
        """One location at a time, everything is in one order."""
        return ((self.run.po & self.run.same_location) | self.eco).acyclic

    @cached_property
    def atomic(self) -> bool:
        """Nothing comes between what an update reads and what it writes."""
        return (self.fr @ self.mo).irreflexive

    @cached_property
    def outcome(self) -> Outcome:
        last = (self.run.events[order[-1]].written for order in self.orders)
        return Outcome(self.run.registers, tuple(value for value in last if value is not None))


def _before(first: Label, second: Label) -> bool:
    return (first[0] == -1 != second[0]) or (first[0] == second[0] != -1 and first[1] < second[1])


@dataclass(frozen=True)
class _State:
    """Threads on their way. `chosen`: what reads that are next, or were, read from; that may still have to be
    written."""

    positions: tuple[int, ...]
    registers: tuple[dict[str, int], ...]
    events: dict[Label, Event]
    chosen: dict[Label, Label]


def runs(litmus: Litmus) -> Iterator[Run]:
    """All of them, each once, in which po ∪ rf has no cycles. A read chooses what it reads from when its thread gets
    there, and the thread waits until that is written; if it never is, there is no such run."""
    initial = {
        (-1, number): Event((-1, number), "plain", location, None, 0)
        for number, location in enumerate(litmus.locations)
    }
    writers: dict[str, list[Label]] = {
        location: [
            (thread, index)
            for thread, operations in enumerate(litmus.threads)
            for index, operation in enumerate(operations)
            if isinstance(operation, Store | Update | CompareExchange) and operation.location == location
        ]
        for location in litmus.locations
    }

    def extend(state: _State) -> Iterator[Run]:
        while True:
            waiting = False
            for thread, operations in enumerate(litmus.threads):
                position = state.positions[thread]
                if position >= len(operations):
                    continue
                label, operation, registers = (thread, position), operations[position], state.registers[thread]
                value = None
                if isinstance(operation, Assume) and registers.get(operation.register, 0) != operation.value:
                    continue
                if isinstance(operation, Load | Update | CompareExchange):
                    if label not in state.chosen:
                        number = litmus.locations.index(operation.location)
                        sources = [(-1, number), *writers[operation.location]]
                        for source in sources:
                            if source[0] != thread or (source in state.events and source[1] < position):
                                yield from extend(replace(state, chosen=state.chosen | {label: source}))
                        return
                    source = state.chosen[label]
                    if source not in state.events:
                        waiting = True
                        continue
                    value = state.events[source].written
                    if value is None:
                        return
                state = _step(state, thread, operation, value)
                break
            else:
                if not waiting:
                    yield _run(litmus, state)
                return

    yield from extend(_State((0,) * len(litmus.threads), ({},) * len(litmus.threads), initial, {}))


def _step(state: _State, thread: int, operation: Operation, found: int | None) -> _State:
    """Take one operation; `found` is what it reads, if it does."""
    position, registers = state.positions[thread], state.registers[thread]
    label, following = (thread, position), position + 1

    def value(expression: Expression) -> int:
        if isinstance(expression, int):
            return expression
        return registers.get(expression[0], 0) + expression[1]

    event: Event | None = None
    target: str | None = None
    match operation:
        case Load(target, location, order):
            event = Event(label, order, location, found)
        case Store(location, expression, order):
            event = Event(label, order, location, None, value(expression))
        case Update(target, location, op, operand, order):
            assert found is not None
            new = value(operand) + (found if op == "add" else 0)
            event = Event(label, order, location, found, new, True)
        case CompareExchange(target, location, expected, desired, order, failure):
            if found == expected:
                event = Event(label, order, location, found, desired, True)
            else:
                event = Event(label, failure, location, found, None, True)
        case Fence(order):
            event = Event(label, order)
        case SkipUnless(register, wanted, count):
            if registers.get(register, 0) != wanted:
                following += count
        case Assume():
            pass
    if target is not None:
        assert found is not None
        registers = registers | {target: found}
    return _State(
        (*state.positions[:thread], following, *state.positions[thread + 1 :]),
        (*state.registers[:thread], registers, *state.registers[thread + 1 :]),
        state.events if event is None else state.events | {label: event},
        state.chosen,
    )


def _run(litmus: Litmus, state: _State) -> Run:
    labels = sorted(state.events)
    numbers = {label: number for number, label in enumerate(labels)}
    registers = tuple(
        tuple(values.get(name, 0) for name in litmus.registers(thread)) for thread, values in enumerate(state.registers)
    )
    complete = all(
        position >= len(operations) for position, operations in zip(state.positions, litmus.threads, strict=True)
    )
    sources = {numbers[read]: numbers[write] for read, write in state.chosen.items()}
    return Run(litmus, tuple(state.events[label] for label in labels), sources, registers, complete)


def graphs(run: Run) -> Iterator[Graph]:
    """All orders of writes in which the writes of a thread to one location are in program order, and an update comes
    directly after what it reads from. Every model here requires that."""
    choices = []
    for location in run.litmus.locations:
        writes = [i for i, e in enumerate(run.events) if e.location == location and e.written is not None]
        choices.append(list(_orders(run, writes)))
    for orders in product(*choices):
        yield Graph(run, tuple(orders))


def _orders(run: Run, writes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    def extend(order: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        left = [write for write in writes if write not in order]
        if not left:
            yield order
        updates = [write for write in left if order and run.sources.get(write) == order[-1]]
        for write in updates or left:
            late = any(run.po.rows[other] >> write & 1 for other in left)
            if not late and (write not in run.sources or write in updates):
                yield from extend((*order, write))

    return extend(())


# -------------------------------------------------------------------------------------------------------- models


def sc(graph: Graph) -> bool:
    return graph.atomic and (graph.run.po | graph.run.rf | graph.mo | graph.fr).acyclic


def tso(graph: Graph) -> bool:
    rfe = graph.run.rf & graph.run.external
    return graph.coherent and graph.atomic and (graph.run.tso_order | rfe | graph.mo | graph.fr).acyclic


def pso(graph: Graph) -> bool:
    rfe = graph.run.rf & graph.run.external
    return graph.coherent and graph.atomic and (graph.run.pso_order | rfe | graph.mo | graph.fr).acyclic


def ra(graph: Graph) -> bool:
    hb, fence = graph.run.ra_hb, graph.run.sc_fences
    if not (hb.irreflexive and (hb @ graph.eco).irreflexive and graph.atomic):
        return False
    return (fence @ (hb | hb @ graph.eco @ hb) @ fence).acyclic


def c11(graph: Graph) -> bool:
    run = graph.run
    hb, po = run.hb, run.po
    if not (hb.irreflexive and (hb @ graph.eco).irreflexive and graph.atomic and (po | run.rf).acyclic):
        return False
    po_elsewhere = po - run.same_location
    scb = po | po_elsewhere @ hb @ po_elsewhere | (hb & run.same_location) | graph.mo | graph.fr
    event, fence = run.only(lambda event: event.order == "seq_cst"), run.sc_fences
    psc_base = (event | fence @ hb.optional) @ scb @ (event | hb.optional @ fence)
    psc_fence = fence @ (hb | hb @ graph.eco @ hb) @ fence
    return (psc_base | psc_fence).acyclic


MODELS: dict[str, Callable[[Graph], bool]] = {"sc": sc, "tso": tso, "pso": pso, "ra": ra, "c11": c11}


@dataclass(frozen=True)
class Verdict:
    """What a model allows: how many graphs in which all threads end, how these end, how many in which some thread
    stays at what it assumes, and whether any of all these has a data race by the rules of C."""

    complete: int
    blocked: int
    outcomes: frozenset[Outcome]
    races: bool


def judge(litmus: Litmus, models: Iterable[str] = tuple(MODELS)) -> dict[str, Verdict]:
    """The verdict of each model."""
    allowed: dict[str, list[Graph]] = {model: [] for model in models}
    for run in runs(litmus):
        for graph in graphs(run):
            # The models all imply coherence; looking at it first is quicker.
            if graph.coherent:
                for model, found in allowed.items():
                    if MODELS[model](graph):
                        found.append(graph)
    return {
        model: Verdict(
            complete=sum(graph.run.complete for graph in found),
            blocked=sum(not graph.run.complete for graph in found),
            outcomes=frozenset(graph.outcome for graph in found if graph.run.complete),
            races=any(graph.run.races for graph in found),
        )
        for model, found in allowed.items()
    }
