"""The axioms of weak memory with sections: atomic steps that read and write several locations, and may wait.

As `axioms`, on which this builds: all candidate graphs, filtered by relations. What is new:

- An event is one step, which has a part for each location that it touches. Program order and whatever the models say
  about events is about these; reads-from, modification order and from-read are kept by location.
- A section reads or writes, or both, each of its locations, all at once. Locks are sections of one location that wait
  until it is 0. A part that only writes is *blind*: it comes right after some write, as if it had read that, but does
  not synchronise with it.
- A location that a section touches anywhere in the program is *sectioned*. Each access to it is a step of the same
  order, whatever it says: stores to it are blind parts. In this, sections differ from what C says about atomics: a
  relaxed store to such a location is in one order with all that touches such locations.
- All these steps are in one order, in which reads-from, modification order, from-read and what the model says comes
  before go forward: sc everything; tso, pso: they are full fences; ra: po ∪ rf; c11: hb.
- Sections acquire and release (other accesses to sectioned locations do what they say). They are not themselves
  seq_cst, but accesses and fences that are stay what they are in RC11, whatever else touches the location.
- A step that waits is in an execution either done, or its thread waits for ever: then it would have to wait if it read
  the newest writes. It is no event then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TypeAlias

from tests.oracle.axioms import (
    ACQUIRING,
    MODELS,
    RELEASING,
    Assume,
    CompareExchange,
    Expression,
    Fence,
    Label,
    Load,
    Order,
    Outcome,
    Relation,
    SkipUnless,
    Store,
    Update,
)

# ------------------------------------------------------------------------------------------------------ programs


@dataclass(frozen=True)
class Piece:
    """What a section does to a location: it reads (the register gets the old value), writes, or adds to it. `guard`:
    it waits until it finds this value. `when`: only if it has found this value in a location that it read before."""

    location: str
    register: str | None = None
    written: Expression | None = None
    adds: bool = False
    guard: int | None = None
    when: tuple[str, int] | None = None


@dataclass(frozen=True)
class Section:
    """The pieces, all at once; what they find in a location is what was there before. `assumes`: waiting in vain is no
    deadlock."""

    pieces: tuple[Piece, ...]
    assumes: bool = False

    @property
    def waits(self) -> bool:
        return any(piece.guard is not None for piece in self.pieces)

    def needs(self, found: dict[str, int]) -> list[str]:
        """What it touches, as far as that is known: its first locations are those that were found."""
        needed: list[str] = []
        for piece in self.pieces:
            if piece.when is not None and piece.when[0] not in found:
                break
            if piece.when is None or found[piece.when[0]] == piece.when[1]:
                if piece.location not in needed:
                    needed.append(piece.location)
                if piece.guard is not None and found.get(piece.location, piece.guard) != piece.guard:
                    break
        return needed

    def may_go_on(self, values: dict[str, int]) -> bool:
        return all(
            piece.guard is None
            or (piece.when is not None and values[piece.when[0]] != piece.when[1])
            or values[piece.location] == piece.guard
            for piece in self.pieces
        )


@dataclass(frozen=True)
class Lock:
    mutex: str


@dataclass(frozen=True)
class Unlock:
    mutex: str


@dataclass(frozen=True)
class Await:
    """A loop that reads until it finds the value."""

    register: str
    location: str
    value: int
    order: Order = "relaxed"


Operation: TypeAlias = (
    "Load | Store | Update | CompareExchange | Fence | SkipUnless | Assume | Section | Lock | Unlock | Await"
)


@dataclass(frozen=True)
class Program:
    threads: tuple[tuple[Operation, ...], ...]

    @cached_property
    def mutexes(self) -> tuple[str, ...]:
        return tuple(sorted({a.mutex for thread in self.threads for a in thread if isinstance(a, Lock)}))

    @cached_property
    def locations(self) -> tuple[str, ...]:
        """Those that are no mutexes."""
        touched = {location for thread in self.threads for operation in thread for location in touches(operation)}
        return tuple(sorted(touched - set(self.mutexes)))

    @cached_property
    def sectioned(self) -> frozenset[str]:
        sections = [a for thread in self.threads for a in thread if isinstance(a, Section | Lock | Unlock)]
        return frozenset(location for section in sections for location in touches(section))

    def registers(self, thread: int) -> tuple[str, ...]:
        names: list[str | None] = []
        for operation in self.threads[thread]:
            match operation:
                case Load() | Update() | CompareExchange() | Await():
                    names.append(operation.register)
                case Section():
                    names += [piece.register for piece in operation.pieces]
        return tuple(dict.fromkeys(name for name in names if name is not None))


def touches(operation: Operation) -> tuple[str, ...]:
    match operation:
        case Load() | Store() | Update() | CompareExchange() | Await():
            return (operation.location,)
        case Section(pieces):
            return tuple(dict.fromkeys(piece.location for piece in pieces))
        case Lock(mutex) | Unlock(mutex):
            return (mutex,)
        case _:
            return ()


def may_write(operation: Operation) -> tuple[str, ...]:
    match operation:
        case Store() | Update() | CompareExchange():
            return (operation.location,)
        case Section(pieces):
            return tuple(piece.location for piece in pieces if piece.written is not None)
        case Lock(mutex) | Unlock(mutex):
            return (mutex,)
        case _:
            return ()


# -------------------------------------------------------------------------------------------------------- graphs


@dataclass(frozen=True)
class Part:
    """What an event does to a location. A blind part comes right after a write without reading it."""

    read: int | None
    written: int | None
    blind: bool = False


@dataclass(frozen=True)
class Event:
    label: Label
    order: Order
    parts: dict[str, Part]
    section: bool = False  # or an access to a location that is sectioned
    whole: bool = False  # a section
    locked: bool = False

    @property
    def fence(self) -> bool:
        return not self.parts

    @property
    def reads(self) -> bool:
        return any(part.read is not None and not part.blind for part in self.parts.values())

    @property
    def writes(self) -> bool:
        return any(part.written is not None for part in self.parts.values())


@dataclass(frozen=True)
class Graph:
    program: Program
    events: tuple[Event, ...]
    sources: dict[tuple[int, str], int]  # for each event that reads, or is blind, by location
    orders: dict[str, tuple[int, ...]]  # by locations
    registers: tuple[tuple[int, ...], ...]
    stuck: tuple[Operation, ...]  # where threads wait for ever

    @cached_property
    def size(self) -> int:
        return len(self.events)

    def only(self, members: Iterable[bool]) -> Relation:
        return Relation.identity(self.size, sum(1 << index for index, member in enumerate(members) if member))

    def pairs(self, pairs: Iterable[tuple[int, int]]) -> Relation:
        return Relation.of(self.size, pairs)

    @cached_property
    def po(self) -> Relation:
        both = product(enumerate(self.events), repeat=2)
        return self.pairs((i, j) for (i, a), (j, b) in both if _before(a.label, b.label))

    def is_blind(self, event: int, location: str) -> bool:
        return self.events[event].parts[location].blind

    def rf_at(self, location: str) -> Relation:
        read = self.sources.items()
        return self.pairs((w, r) for (r, at), w in read if at == location and not self.is_blind(r, at))

    def mo_at(self, location: str) -> Relation:
        order = self.orders[location]
        return self.pairs((a, b) for i, a in enumerate(order) for b in order[i + 1 :])

    def fr_at(self, location: str) -> Relation:
        return ~self.rf_at(location) @ self.mo_at(location) - Relation.identity(self.size)

    def union(self, relations: Iterable[Relation]) -> Relation:
        found = self.pairs(())
        for relation in relations:
            found = found | relation
        return found

    @cached_property
    def rf(self) -> Relation:
        return self.union(map(self.rf_at, self.orders))

    @cached_property
    def follows(self) -> Relation:
        """Reads-from, and what is as if it were."""
        return self.pairs((w, r) for (r, _), w in self.sources.items())

    @cached_property
    def mo(self) -> Relation:
        return self.union(map(self.mo_at, self.orders))

    @cached_property
    def fr(self) -> Relation:
        return self.union(map(self.fr_at, self.orders))

    @cached_property
    def ecos(self) -> list[Relation]:
        return [(self.rf_at(at) | self.mo_at(at) | self.fr_at(at)).plus for at in self.orders]

    @cached_property
    def eco(self) -> Relation:
        """Of each location by itself: an event that touches two does not pass it on."""
        return self.union(self.ecos)

    @cached_property
    def external(self) -> Relation:
        both = product(enumerate(self.events), repeat=2)
        return self.pairs((i, j) for (i, a), (j, b) in both if a.label[0] != b.label[0])

    def at(self, location: str) -> Relation:
        """Events that touch this location."""
        return self.only(location in event.parts for event in self.events)

    @cached_property
    def same_location(self) -> Relation:
        both = product(enumerate(self.events), repeat=2)
        return self.pairs((i, j) for (i, a), (j, b) in both if a.parts.keys() & b.parts.keys())

    @cached_property
    def coherent(self) -> bool:
        return all(
            (self.at(location) @ self.po @ self.at(location) | eco).acyclic
            for location, eco in zip(self.orders, self.ecos, strict=True)
        )

    @cached_property
    def sections(self) -> Relation:
        return self.only(event.section for event in self.events)

    def sections_in_order(self, before: Relation) -> bool:
        order = before | self.rf | self.mo | self.fr
        return (self.sections @ order @ self.sections).acyclic

    # tso, pso

    def is_full(self, event: Event) -> bool:
        return event.section or event.locked or (event.order == "seq_cst" and (event.fence or event.writes))

    @cached_property
    def fenced(self) -> Relation:
        full = self.only(map(self.is_full, self.events))
        return (self.po.optional @ full @ self.po) | (self.po @ full)

    @cached_property
    def accesses_in_order(self) -> Relation:
        access = self.only(not event.fence for event in self.events)
        write, read = self.only(event.writes for event in self.events), self.only(event.reads for event in self.events)
        return access @ self.po @ access - write @ self.po @ read

    @cached_property
    def pso_order(self) -> Relation:
        write = self.only(event.writes for event in self.events)
        releasing = self.only(event.writes and event.order in RELEASING for event in self.events)
        fence = self.only(event.fence and event.order in RELEASING for event in self.events)
        kept = write @ self.po @ releasing | write @ self.po @ fence @ self.po @ write
        return (self.accesses_in_order - (write @ self.po @ write - self.same_location)) | kept | self.fenced

    # ra, c11

    @cached_property
    def sc_fences(self) -> Relation:
        return self.only(event.fence and event.order == "seq_cst" for event in self.events)

    @cached_property
    def ra_hb(self) -> Relation:
        return (self.po | self.follows).plus

    @cached_property
    def hb(self) -> Relation:
        everything = Relation.identity(self.size)
        fence = self.only(event.fence for event in self.events)
        write = self.only(event.writes and event.order != "plain" for event in self.events)
        read = self.only(event.reads and event.order != "plain" for event in self.events)
        release = self.only(event.order in RELEASING for event in self.events)
        acquire = self.only(event.order in ACQUIRING for event in self.events)
        updates = self.union(
            self.rf_at(at) @ self.only(at in e.parts and e.parts[at].written is not None for e in self.events)
            for at in self.orders
        )
        rs = write @ updates.plus.optional
        sw = release @ (fence @ self.po | everything) @ rs @ self.rf @ read @ (self.po @ fence | everything) @ acquire
        return (self.po | sw).plus

    @cached_property
    def races(self) -> bool:
        for (i, a), (j, b) in product(enumerate(self.events), repeat=2):
            for at in a.parts.keys() & b.parts.keys() if i < j else ():
                plain = "plain" in (a.order, b.order)
                writes = a.parts[at].written is not None or b.parts[at].written is not None
                if plain and writes and not (self.hb.rows[i] >> j | self.hb.rows[j] >> i) & 1:
                    return True
        return False

    # how it ends

    @cached_property
    def newest(self) -> dict[str, int]:
        found = {}
        for location, order in self.orders.items():
            written = self.events[order[-1]].parts[location].written
            assert written is not None
            found[location] = written
        return found

    @cached_property
    def waits(self) -> bool:
        """Whether all who wait would have to if they read what is newest."""
        return not any(_may_go_on(operation, self.newest) for operation in self.stuck)

    @cached_property
    def blocked(self) -> bool:
        return any(isinstance(a, Assume | Await) or (isinstance(a, Section) and a.assumes) for a in self.stuck)

    @cached_property
    def outcome(self) -> Outcome:
        return Outcome(self.registers, tuple(self.newest[location] for location in self.program.locations))


def _may_go_on(operation: Operation, values: dict[str, int]) -> bool:
    match operation:
        case Lock(mutex):
            return values[mutex] == 0
        case Await(_, location, wanted):
            return values[location] == wanted
        case Section():
            return operation.may_go_on(values)
        case Assume():
            return False
        case _:
            return True


def _before(first: Label, second: Label) -> bool:
    return (first[0] == -1 != second[0]) or (first[0] == second[0] != -1 and first[1] < second[1])


@dataclass(frozen=True)
class _State:
    positions: tuple[int, ...]
    registers: tuple[dict[str, int], ...]
    events: dict[Label, Event]
    chosen: dict[tuple[Label, str], Label]
    stuck: frozenset[int]


def graphs(program: Program) -> Iterator[Graph]:
    """All of them, each once, in which po ∪ rf has no cycles, and nothing comes between what an update reads, or a
    blind part comes after, and what it writes."""
    everywhere = (*program.locations, *program.mutexes)
    initial = {
        (-1, number): Event((-1, number), "plain", {location: Part(None, 0)})
        for number, location in enumerate(everywhere)
    }
    labels = [((t, i), a) for t, thread in enumerate(program.threads) for i, a in enumerate(thread)]
    writers: dict[str, list[Label]] = {
        location: [(-1, number), *(label for label, operation in labels if location in may_write(operation))]
        for number, location in enumerate(everywhere)
    }

    def always_updates(operation: Operation, location: str) -> bool:
        if isinstance(operation, Store):
            return location in program.sectioned
        if isinstance(operation, Section):
            return any(p.location == location and p.written is not None and p.when is None for p in operation.pieces)
        return isinstance(operation, Update | Lock | Unlock) and location in may_write(operation)

    def extend(state: _State) -> Iterator[Graph]:
        while True:
            missing = False
            for thread, operations in enumerate(program.threads):
                position = state.positions[thread]
                if position >= len(operations) or thread in state.stuck:
                    continue
                label, operation, registers = (thread, position), operations[position], state.registers[thread]
                if isinstance(operation, Assume) and registers.get(operation.register, 0) != operation.value:
                    state = replace(state, stuck=state.stuck | {thread})
                    break
                values: dict[str, int] = {}
                needs: list[str] = []
                choice: str | None = None
                while True:
                    needs = operation.needs(values) if isinstance(operation, Section) else list(touches(operation))
                    if isinstance(operation, Store) and operation.location not in program.sectioned:
                        needs = []
                    unknown = [location for location in needs if location not in values]
                    if not unknown:
                        break
                    location = unknown[0]
                    if (label, location) not in state.chosen:
                        choice = location
                        break
                    source = state.chosen[label, location]
                    if source not in state.events:
                        break
                    part = state.events[source].parts.get(location)
                    if part is None or part.written is None:
                        return
                    values[location] = part.written
                if choice is not None:
                    guarded = isinstance(operation, Await | Lock) or (
                        isinstance(operation, Section) and operation.waits
                    )
                    if guarded and not values:
                        yield from extend(replace(state, stuck=state.stuck | {thread}))
                    taken = {
                        source
                        for (other, at), source in state.chosen.items()
                        if at == choice and always_updates(program.threads[other[0]][other[1]], choice)
                    }
                    for source in writers[choice]:
                        if source == label or (source[0] == thread and source not in state.events):
                            continue
                        if source in taken and always_updates(operation, choice):
                            continue
                        yield from extend(replace(state, chosen=state.chosen | {(label, choice): source}))
                    return
                if unknown:
                    missing = True
                else:
                    if isinstance(operation, Section | Lock | Await):
                        everything = {location: values.get(location, 0) for location in everywhere}
                        if not _may_go_on(operation, everything):
                            return
                    state = _step(program, state, thread, operation, values)
                    break
                continue
            else:
                if not missing:
                    yield from _finish(program, state)
                return

    yield from extend(_State((0,) * len(program.threads), ({},) * len(program.threads), dict(initial), {}, frozenset()))


def _step(program: Program, state: _State, thread: int, operation: Operation, found: dict[str, int]) -> _State:
    position, registers = state.positions[thread], state.registers[thread]
    label, following = (thread, position), position + 1

    def value(expression: Expression) -> int:
        if isinstance(expression, int):
            return expression
        return registers.get(expression[0], 0) + expression[1]

    def access(order: Order, location: str, part: Part, locked: bool = False) -> Event:
        return Event(label, order, {location: part}, location in program.sectioned, False, locked)

    event: Event | None = None
    match operation:
        case Load(register, at, order) | Await(register, at, _, order):
            event = access(order, at, Part(found[at], None))
            registers = registers | {register: found[at]}
        case Store(at, expression, order):
            event = access(order, at, Part(found.get(at), value(expression), at in found))
        case Update(register, at, op, operand, order):
            event = access(order, at, Part(found[at], value(operand) + (found[at] if op == "add" else 0)), True)
            if register is not None:
                registers = registers | {register: found[at]}
        case CompareExchange(register, at, expected, desired, order, failure):
            if found[at] == expected:
                event = access(order, at, Part(found[at], desired), True)
            else:
                event = access(failure, at, Part(found[at], None), True)
            registers = registers | {register: found[at]}
        case Fence(order):
            event = Event(label, order, {})
        case SkipUnless(register, wanted, count):
            if registers.get(register, 0) != wanted:
                following += count
        case Section(pieces):
            registers = registers | {piece.register: found[piece.location] for piece in pieces if piece.register}
            parts: dict[str, Part] = {}
            for piece in pieces:
                if piece.when is not None and found[piece.when[0]] != piece.when[1]:
                    continue
                at = piece.location
                reads = piece.register is not None or piece.adds or piece.guard is not None
                before = parts.get(at, Part(found[at], None, True))
                written = before.written
                if piece.written is not None:
                    written = value(piece.written) + (found[at] if piece.adds else 0)
                parts[at] = Part(found[at], written, before.blind and not reads)
            event = Event(label, "acq_rel", parts, True, True, True)
        case Lock(at):
            event = Event(label, "acq_rel", {at: Part(found[at], thread + 1)}, True, True, True)
        case Unlock(at):
            event = Event(label, "acq_rel", {at: Part(found[at], 0)}, True, True, True)
    return _State(
        (*state.positions[:thread], following, *state.positions[thread + 1 :]),
        (*state.registers[:thread], registers, *state.registers[thread + 1 :]),
        state.events if event is None else state.events | {label: event},
        state.chosen,
        state.stuck,
    )


def _finish(program: Program, state: _State) -> Iterator[Graph]:
    labels = sorted(state.events)
    numbers = {label: number for number, label in enumerate(labels)}
    events = tuple(state.events[label] for label in labels)
    sources = {(numbers[label], location): numbers[source] for (label, location), source in state.chosen.items()}
    registers = tuple(
        tuple(values.get(name, 0) for name in program.registers(thread))
        for thread, values in enumerate(state.registers)
    )
    stuck = tuple(program.threads[thread][state.positions[thread]] for thread in sorted(state.stuck))
    everywhere = (*program.locations, *program.mutexes)

    def orders(location: str) -> Iterator[tuple[int, ...]]:
        writes = [i for i, e in enumerate(events) if location in e.parts and e.parts[location].written is not None]

        def extend(order: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
            left = [write for write in writes if write not in order]
            if not left:
                yield order
            updates = [write for write in left if order and sources.get((write, location)) == order[-1]]
            for write in updates or left:
                late = any(_before(events[other].label, events[write].label) for other in left)
                if not late and ((write, location) not in sources or write in updates):
                    yield from extend((*order, write))

        return extend(())

    for choice in product(*map(list, map(orders, everywhere))):
        yield Graph(program, events, sources, dict(zip(everywhere, choice, strict=True)), registers, stuck)


# -------------------------------------------------------------------------------------------------------- models


def is_consistent(model: str, graph: Graph) -> bool:
    if not graph.coherent or not (graph.po | graph.follows).acyclic:
        return False
    if model == "sc":
        return (graph.po | graph.rf | graph.mo | graph.fr).acyclic
    if model in ("tso", "pso"):
        order = graph.accesses_in_order | graph.fenced if model == "tso" else graph.pso_order
        return (order | (graph.rf & graph.external) | graph.mo | graph.fr).acyclic
    hb = graph.ra_hb if model == "ra" else graph.hb
    if not (hb.irreflexive and (hb @ graph.eco).irreflexive and graph.sections_in_order(hb)):
        return False
    fence = graph.sc_fences
    psc = fence @ (hb | hb @ graph.eco @ hb) @ fence
    if model == "c11":
        event = graph.only(e.order == "seq_cst" and not e.whole for e in graph.events)
        po_elsewhere = graph.po - graph.same_location
        scb = graph.po | po_elsewhere @ hb @ po_elsewhere | (hb & graph.same_location) | graph.mo | graph.fr
        psc = psc | (event | fence @ hb.optional) @ scb @ (event | hb.optional @ fence)
    return psc.acyclic


@dataclass(frozen=True)
class Verdict:
    complete: int
    blocked: int
    outcomes: frozenset[Outcome]  # of those in which all threads end
    races: bool
    deadlock: bool
    reached: bool  # each section touches each of its locations in some execution


def judge(program: Program, models: Iterable[str] = tuple(MODELS)) -> dict[str, Verdict]:
    allowed: dict[str, list[Graph]] = {model: [] for model in models}
    for graph in graphs(program):
        if graph.waits:
            for model, found in allowed.items():
                if is_consistent(model, graph):
                    found.append(graph)
    sections = {
        ((t, i), location)
        for t, thread in enumerate(program.threads)
        for i, operation in enumerate(thread)
        if isinstance(operation, Section | Lock | Unlock)
        for location in touches(operation)
    }
    return {
        model: Verdict(
            complete=sum(not graph.blocked for graph in found),
            blocked=sum(graph.blocked for graph in found),
            outcomes=frozenset(graph.outcome for graph in found if not graph.stuck),
            races=any(graph.races for graph in found),
            deadlock=any(graph.stuck and not graph.blocked for graph in found),
            reached=sections <= {(e.label, at) for graph in found for e in graph.events for at in e.parts},
        )
        for model, found in allowed.items()
    }
