"""Whether a built program keeps to the proof of its schedule, whatever made its tables.

The tables are read from the C text that is compiled, and compared with the proof alone. A *stage* is a section of the
tables. That these four hold is what is proved, in this order:

1. *Some order of the events is one of the proof.* The program does not know at which node of the proof it is, only what
   it has seen. So a set of nodes is moved along: for every stage that can follow, an order of its events is looked for
   that the proof permits from all nodes of the set, whatever the inputs are. Steps that the scheduler does not see
   happen in between, where the proof has them. An event that decides how to go on leaves those nodes from which its thread can
   arrive where the option says; each place where it can arrive must have its option.
2. *All other orders are equivalent.* An event waits for others by their clocks; a thread begins a stage when all stages
   but the last are over. Two events that touch the same word, one of them writing, that print, or of which one ends the
   program must be ordered by that, within a stage and from one to the next. What an event touches is what it does
   natively: operations that are left out touch nothing, but then nobody may look at what they would have changed.
   Redirected accesses touch a cell; they must read what they read in the order of 1.
3. *The scheduler never waits in vain*: who is waited for tells so, threads arrive at where they decide, and the place
   where a thread is expected to be at the end is the one where it is.
4. *Nobody is left out*: on a way that goes on for ever, a thread has events or is offered to have one again and again,
   or it cannot go on.

Then a native run is, up to the order of independent events, one that the proof covers: take the order of 1 of all of
its stages. Its waits are for events that come earlier in that order, so the first event in it that has not happened can
happen (3). By 2, each load reads what it reads there, so each thread does what it does there, and 1 applies again.

What is not looked at is how the calls of the scheduler are woven into the program.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mazurka.enforcement.reading import Option, Stage, Step, Tables, Unreadable, header, read_tables
from mazurka.engines.abstract.model import Access, Location, Transition, Variable
from mazurka.engines.abstract.proof import Node, Proof
from mazurka.engines.abstract.terms import negation, select, substitute
from mazurka.schedules.checker import Facts, Prover, claims_of, on_cycles, place_of

Line = tuple[str, int]  # a file and a line of its LLVM text

# What these do is only to make threads wait for each other; the schedule does that. They give 0, or can do so ...
_LEFT_OUT = frozenset((
    "pthread_spin_lock", "pthread_spin_unlock", "sem_wait", "sem_post", "pthread_cond_wait", "pthread_cond_signal",
    "pthread_cond_broadcast", "cnd_wait", "cnd_signal", "cnd_broadcast", "pthread_barrier_wait",
))  # fmt: skip
# ... if they do what they are for: when they are misused, they change nothing and give an error.
_TELLING = frozenset((
    "pthread_mutex_lock", "pthread_mutex_unlock", "mtx_lock", "mtx_unlock", "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock", "pthread_rwlock_unlock",
))  # fmt: skip
# They make or end an object. If all other operations on it are left out, nobody looks at it.
_AROUND = frozenset(
    f"{kind}_{what}"
    for kind in (
        "pthread_mutex", "pthread_cond", "pthread_barrier", "pthread_rwlock", "pthread_spin", "sem", "mtx", "cnd"
    )
    for what in ("init", "destroy")
)  # fmt: skip

# Numbers from here on may be addresses, which are others in a native program.
_ADDRESSES = range(1 << 26, 1 << 47)

# How much is tried before a stage counts as one whose events have no order that follows the proof, ...
_MOST_ATTEMPTS = 5000
# ... how many steps of its own a thread may take in a row without being seen, ...
_LARGEST_REGION = 20_000
# ... and with how many sets of nodes a stage is looked at before they are united.
_MOST_SETS = 16

# A node, and for threads whose steps are ahead of the proof the points at which they are known to arrive.
_Element = tuple[int, tuple[tuple[int, int], ...]]
_Elements = frozenset[_Element]


def validate(
    proof: Proof,
    text: str,
    points: Mapping[Location, int],
    dropped: Mapping[Location, int | None],
    level: int,
    *,
    calls: Container[Line] = (),
    unused: Container[Line] = (),
) -> list[str]:
    """What does not hold, in words.

    `points` are the points of the locations at which the scheduler sees a thread. At `dropped` ones, an instruction of
    the program runs without the scheduler; a load gives the constant, an operation (None) is left out. At all others
    threads just go on. `calls` are the lines of the program that call functions: events there last until the function
    returns. `unused` are those whose result nobody looks at."""
    try:
        tables = read_tables(text)
    except Unreadable as error:
        return [f"the tables cannot be read: {error}"]
    return _Validator(proof, tables, _Native(proof, points, dropped, calls, unused), level).problems()


def _is_silent(location: Location) -> bool:
    return any(transition.silent for transition in location.transitions)


def _call_of(location: Location) -> tuple[Line, tuple[Line, ...]] | None:
    """The instruction of the program at a location, and how the thread came there."""
    point = location.point
    return None if point is None or point.line is None else (point.line, point.calls)


def _words(transition: Transition) -> list[Access]:
    """The accesses to memory; others are to what only the model knows, such as whether an object exists."""
    return [access for access in transition.accesses if access.variable.address is not None]


@dataclass(frozen=True, slots=True)
class _Ahead:
    """What a thread can do before the scheduler sees it again: the points at which it can arrive, whether it may never
    arrive, and whether it may fail on its way."""

    arrivals: frozenset[int]
    endless: bool
    fails: bool


class _Native:
    """What the native program shows of the places at which its threads are."""

    def __init__(
        self,
        proof: Proof,
        points: Mapping[Location, int],
        dropped: Mapping[Location, int | None],
        calls: Container[Line],
        unused: Container[Line],
    ) -> None:
        self._proof = proof
        self._calls = calls
        self._unused = unused
        self.points = points
        self.dropped = dropped
        self.constants, _ = header()
        self._ahead: dict[Location, _Ahead] = {}
        self._prints: dict[Transition, bool] = {}
        self._at = {(location.thread, number): location for location, number in points.items()}
        before: dict[Location, list[Location]] = {}
        for transition in proof.model.transitions:
            before.setdefault(transition.target, []).append(transition.source)
        entries = {thread.entry for thread in proof.model.threads}
        # What is inside of a call that is one event as a whole.
        self.inner = {
            location
            for location, sources in before.items()
            if not self.is_seen(location) and location not in dropped and location not in entries
            if (call := _call_of(location)) is not None and all(_call_of(source) == call for source in sources)
        }

    def is_seen(self, location: Location) -> bool:
        return location in self.points

    def at(self, thread: int, point: int) -> str:
        """A thread at a point, in words."""
        location = self._at.get((thread, point))
        name = f"thread {self._proof.model.threads[thread].display}"
        if location is None or location.point is None or location.point.source is None:
            return f"{name} ({'at its end' if point == self.constants['RETURN'] else f'point {point}'})"
        return place_of(self._proof.model, location)

    def place(self, location: Location) -> str:
        return place_of(self._proof.model, location)

    def is_call(self, location: Location) -> bool:
        """Whether an event there lasts until a function returns."""
        point = location.point
        return point is not None and (point.operation is not None or point.line in self._calls)

    def is_unused(self, location: Location) -> bool:
        return location.point is not None and location.point.line in self._unused

    def shown(self, location: Location) -> int | None:
        """The point at which a thread stands; NOWHERE if it rests, None if it goes on without being seen."""
        if location.rest is not None:
            return self.constants["NOWHERE"]
        return self.points.get(location)

    def ahead(self, location: Location) -> _Ahead:
        """What a thread at a location can do before it is seen again, if it does anything on its own."""
        if location not in self._ahead:
            arrivals: set[int] = set()
            passed: dict[Location, list[Transition]] = {}
            pending = [location]
            while pending:
                current = pending.pop()
                point = self.shown(current)
                if point is not None:
                    arrivals.add(point)
                elif current not in passed:
                    passed[current] = current.transitions
                    pending += [transition.target for transition in current.transitions]
            number = {each: position for position, each in enumerate(passed)}
            rounds = on_cycles(
                [
                    [] if _ends(each) else [number[step.target] for step in steps if step.target in number]
                    for each, steps in passed.items()
                ]
            )
            fails = any(step.failure is not None for steps in passed.values() for step in steps)
            self._ahead[location] = _Ahead(frozenset(arrivals), bool(rounds), fails)
        return self._ahead[location]

    def prints(self, transition: Transition) -> bool:
        """Whether a thread can print something between an event and where it is seen next."""
        if transition not in self._prints:
            pending, passed = [transition], {transition}
            while pending and not any(each.prints for each in pending):
                target = pending.pop().target
                new = [] if self.is_seen(target) else [each for each in target.transitions if each not in passed]
                passed.update(new)
                pending += new
            self._prints[transition] = bool(pending)
        return self._prints[transition]

    # -------------------------------------------------------------------------------------- whether it can be so

    def problems(self, tables: Tables) -> Iterator[str]:
        """That a point is one place of the program, and a place one point."""
        first = self.constants["FIRST_POINT"]
        owners: dict[int, tuple[object, Location]] = {}
        numbers: dict[object, tuple[int, Location]] = {}
        for location, number in self.points.items():
            call = _call_of(location)
            if number < first:
                wanted = location.point is not None and call is None and number != self.constants["NOWHERE"]
                is_start = number == self.constants.get("START")
                if not wanted or (is_start and location is not self._proof.model.threads[location.thread].entry):
                    yield f"{self.place(location)} has the point {number}, which is for where threads begin or end"
                continue
            if call is None or location.point is None or number - first >= len(tables.points):
                yield f"{self.place(location)} has the point {number}, which is no instruction of the program"
                continue
            line, calls = call
            own = (line, location.point.ordinal, _is_silent(location))
            other = owners.setdefault(number, (own, location))
            if other[0] != own:
                yield f"{self.place(location)} and {self.place(other[1])} have the same point"
            same = numbers.setdefault((*own, calls), (number, location))
            if same[0] != number:
                yield f"{self.place(location)} has two points"
            if not tables.points[number - first].threads >> location.thread & 1:
                yield f"{self.place(location)} has a point at which its thread has no events"
            for transition in location.transitions:
                yield from self._second_event(transition)
        yield from self._unseen()
        yield from self._waiting()
        yield from self._dropping()

    def _second_event(self, transition: Transition) -> Iterator[str]:
        """Operations of the library ask for the next number when they go on."""
        source, target = transition.source.point, transition.target.point
        if source is None or target is None or _call_of(transition.source) != _call_of(transition.target):
            return
        if target.ordinal == source.ordinal + 1 and transition.target in self.points:
            wanted = self.points[transition.source] + 1
            if self.points[transition.target] != wanted:
                yield f"{self.place(transition.target)}: the second event of a call does not have the next point"

    def _unseen(self) -> Iterator[str]:
        """That no thread is seen where it has no event."""
        seen = {
            (location.thread, _call_of(location), location.point.ordinal if location.point else 0): location
            for location in self.points
            if not _is_silent(location)
        }
        for thread in self._proof.model.threads:
            for location in thread.locations:
                call = _call_of(location)
                if location in self.points or location in self.dropped or location in self.inner or call is None:
                    continue
                if not location.transitions or _is_silent(location):
                    continue
                assert location.point is not None
                if (thread.number, call, location.point.ordinal) in seen:
                    yield f"{self.place(location)} is seen by the scheduler, which takes it for none of its events"

    def _waiting(self) -> Iterator[str]:
        """That threads wait where the schedule has them wait. The end of another thread is waited for anyway."""
        reached = {location for node in self._proof.nodes for location in node.locations}
        for location in sorted(reached, key=lambda each: (each.thread, each.number)):
            if location.rest is None and location.may_block and location.waits == "await":
                is_join = location.point is not None and location.point.operation in ("pthread_join", "thrd_join")
                if not self.is_seen(location) and location not in self.dropped and not is_join:
                    yield f"{self.place(location)} may have to wait, and the scheduler does not see it"

    def _dropping(self) -> Iterator[str]:
        effects: dict[Line, tuple[int | None, Location]] = {}
        for location, effect in self.dropped.items():
            call = _call_of(location)
            if call is None or location in self.points:
                yield f"{self.place(location)} is left to the program, but it is no instruction, or an event as well"
            elif effects.setdefault(call[0], (effect, location))[0] != effect:
                yield f"{self.place(location)} is left to the program with two different effects"
        for location in self.points:
            call = _call_of(location)
            if call is not None and call[0] in effects:
                yield f"{self.place(location)} is an event, but its instruction is left to the program"


def _ends(location: Location) -> bool:
    """Whether a loop with this head is known to end."""
    return bool(getattr(location, "ends", False))


@dataclass(eq=False, slots=True)
class _Way:
    """How nodes come to where a thread has its turn: those that are reached, those on the way there, and the threads
    (as bits) that take unseen steps on all ways."""

    reached: _Elements
    passed: frozenset[int]
    moved: int


@dataclass(eq=False, slots=True)
class _Move:
    """An event of a thread at all nodes of a set. `steps` are its transitions, with their nodes."""

    thread: int
    steps: tuple[tuple[int, Transition], ...]
    after: _Elements
    passed: frozenset[int]
    moved: int
    # What it does, natively and in the model.
    touched: dict[tuple[Variable, int | None], bool] = field(default_factory=dict)  # and whether it writes
    word: tuple[Variable, int | None] | None = None  # if it loads or stores a single one ...
    value: int | None = None  # ... and what it loads, if that is always the same
    writes: bool = False
    prints: bool = False
    goes_on: bool = False  # after its instruction
    exits: bool = False
    ends: bool = False

    @property
    def location(self) -> Location:
        return self.steps[0][1].source


@dataclass(slots=True)
class _Event:
    """An event of a walk: of `thread`, whose clock it brings to `clock`; `flags` are those that count."""

    thread: int
    clock: int
    move: _Move
    step: Step
    flags: int


@dataclass(eq=False, slots=True)
class _Walk:
    """A stage, from the end of another one: its events, in an order of the proof. `decides`: the first of them is over,
    for everybody, when the stage begins. `passed` are the nodes on the way, `moved` the threads that certainly move."""

    source: _Vertex
    stage: int
    option: Option
    events: list[_Event]
    decides: bool
    target: _Vertex | None = None
    passed: set[int] = field(default_factory=set)
    moved: int = 0

    def flags_of(self, thread: int, clock: int) -> int | None:
        """Those of the event that brings a thread's clock there."""
        return self.by_clock.get((thread, clock))

    by_clock: dict[tuple[int, int], int] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class _Vertex:
    """The end of a stage, at one of some nodes."""

    number: int
    stage: int
    elements: _Elements
    before: list[_Walk] = field(default_factory=list)
    after: list[_Walk] = field(default_factory=list)


class _Validator:
    def __init__(self, proof: Proof, tables: Tables, native: _Native, level: int) -> None:
        self._proof = proof
        self._model = proof.model
        self._nodes = proof.nodes
        self._tables = tables
        self._native = native
        self._level = level
        self._prover = Prover()
        self._facts: dict[int, Facts] = {}
        self._found: dict[str, None] = {}  # problems, in their order
        names = native.constants
        self._nowhere, self._first_point = names["NOWHERE"], names["FIRST_POINT"]
        self._publish, self._redirect, self._late = names["PUBLISH"], names["REDIRECT"], names["LATE"]
        self._settle, self._omit, self._continues = names["SETTLE"], names["OMIT"], names["CONTINUES"]
        # of the search
        self._ways: dict[tuple[_Element, int, int], _Way | None] = {}
        self._moves: dict[tuple[_Elements, int, int, int | None], _Move | None] = {}
        self._hints: dict[_Elements, int] = {}
        self._notes: dict[str, None] = {}  # why something cannot go on, perhaps
        self._left_out_unseen: dict[Transition, None] = {}
        self._vertices: list[_Vertex] = []
        self._by_stage: dict[int, list[_Vertex]] = {}
        self._walks: list[_Walk] = []
        self._ignored: frozenset[Variable] = frozenset()

    def problems(self) -> list[str]:
        checks = (
            self._form, self._places, self._simulate, self._left_out, self._orders, self._standing, self._fairness
        )  # fmt: skip
        for check in checks:
            check()
            if self._found:  # what follows relies on it
                break
        return list(self._found)

    def _say(self, problem: str) -> None:
        self._found[problem] = None

    def _name(self, thread: int) -> str:
        return f"thread {self._model.threads[thread].display}"

    def _stage(self, number: int) -> Stage:
        return self._tables.stages[number]

    # ---------------------------------------------------------------------------------------------- the tables alone

    def _form(self) -> None:
        """That numbers are in their ranges, and agree with each other."""
        threads = len(self._model.threads)
        if self._tables.threads != threads:
            self._say(f"the tables are for {self._tables.threads} threads, the program has {threads}")
            return
        by_name = {thread.name: thread.number for thread in self._model.threads}
        created = {
            (by_name.get(parent), int(number), thread.number)
            for thread in self._model.threads
            for parent, dot, number in [thread.name.rpartition(".")]
            if dot
        }
        if self._tables.children != created:
            self._say("the tables have other names for the threads that are created")
        if not self._tables.stages or any(self._stage(0).events):
            self._say("the tables do not begin with a section without events")
            return
        lanes: set[tuple[int, int]] = set()
        for number, stage in enumerate(self._tables.stages):
            if stage.events != tuple(map(len, stage.lanes)):
                self._say(f"section {number} has another number of events than it says")
            for thread, lane in enumerate(stage.lanes):
                if (thread, id(lane)) not in lanes:
                    lanes.add((thread, id(lane)))
                    self._lane(number, thread, lane)
            for option in stage.options:
                self._option(number, stage, option)

    def _lane(self, number: int, thread: int, lane: Sequence[Step]) -> None:
        was_late = False
        for clock, step in enumerate(lane, 1):
            where = f"section {number}, {self._native.at(thread, step.point)}"
            if step.clock != clock:
                self._say(f"{where}: its clock should be {clock}, not {step.clock}")
            if was_late and not step.flags & self._settle:
                self._say(f"{where}: nobody learns that the event before it is over")
            was_late = step.flags & self._late != 0
            if any(other >= self._tables.threads for other, _ in step.waits):
                self._say(f"{where}: it waits for a thread that is not there")
            if step.flags & self._omit and self._level < 1:
                self._say(f"{where}: the operation is left out, which this level does not do")
            if step.flags & self._redirect and self._level < 2:
                self._say(f"{where}: it is redirected, which this level does not do")

    def _option(self, number: int, stage: Stage, option: Option) -> None:
        where = f"the way from section {number} to section {option.section}"
        if option.thread >= self._tables.threads or option.section >= len(self._tables.stages):
            self._say(f"{where}: there is no such thread or section")
            return
        following = self._stage(option.section)
        lane = following.lanes[option.thread]
        is_choice = len(stage.options) > 1  # otherwise all follow it without looking any closer
        if is_choice and (option.begin == self._nowhere or not lane or lane[0].point != option.begin):
            self._say(f"{where} does not begin with an event of {self._name(option.thread)}")
        if following.previous != stage.events:
            self._say(f"{where}: the section counts other events before it than there are")
        own = [other for other in stage.options if other.thread == option.thread]
        if option.sure and len(own) > 1:
            self._say(f"{where} is not the only one of {self._name(option.thread)}, but said to be")
        if not option.sure and is_choice:
            if any(other.begin != option.begin for other in own):
                self._say(f"the ways of {self._name(option.thread)} from section {number} begin at different places")
            if any(other is not option and other.arrival == option.arrival for other in own):
                self._say(
                    f"{self._native.at(option.thread, option.begin)}: which way it goes on after section {number} cannot "
                    "be told from where it arrives next; let the two ways begin with different accesses"
                )

    def _places(self) -> None:
        for problem in self._native.problems(self._tables):
            self._say(problem)

    # ---------------------------------------------------------------------------------------------- following the proof

    def _simulate(self) -> None:
        """Find an order of the events of each stage that the proof permits, wherever it can be."""
        start = self._settled(self._proof.uncovered(0), ())
        assert start is not None
        pending = [self._vertex(0, frozenset((start,)))]
        for vertex in pending:  # which grows meanwhile
            options = self._stage(vertex.stage).options
            if not options:
                self._over(vertex)
            for option in options:
                walk = self._follow(vertex, option)
                if self._found:
                    return
                if walk is None:
                    continue
                known = len(self._vertices)
                elements = walk.events[-1].move.after if walk.events else vertex.elements
                if not elements:
                    if self._stage(option.section).options:
                        self._say(f"section {option.section}: something follows it, but the program has ended")
                    continue
                walk.target = self._vertex(option.section, elements)
                walk.target.before.append(walk)
                if len(self._vertices) > known:
                    pending.append(walk.target)

    def _vertex(self, stage: int, elements: _Elements) -> _Vertex:
        """The end of a stage at one of these nodes. What holds for more nodes holds for fewer."""
        others = self._by_stage.setdefault(stage, [])
        for vertex in others:
            if elements <= vertex.elements:
                return vertex
        if len(others) >= _MOST_SETS:
            elements = elements.union(*(vertex.elements for vertex in others))
        vertex = _Vertex(len(self._vertices), stage, elements)
        others.append(vertex)
        self._vertices.append(vertex)
        return vertex

    def _location(self, element: _Element, thread: int) -> Location:
        return self._nodes[element[0]].locations[thread]

    def _settled(self, number: int, arriving: Iterable[tuple[int, int]]) -> _Element | None:
        """At a node, without the arrivals that have come true. None: one has not, so no execution is there."""
        kept: list[tuple[int, int]] = []
        for thread, point in arriving:
            shown = self._native.shown(self._nodes[number].locations[thread])
            if shown is None:
                kept.append((thread, point))
            elif shown != point:
                return None
        return number, tuple(kept)

    def _successors(self, element: _Element, thread: int) -> Iterator[tuple[Transition, _Element]]:
        for edge in self._nodes[element[0]].edges:
            if edge.transition.thread == thread:
                after = self._settled(self._proof.uncovered(edge.target), element[1])
                if after is not None:
                    yield edge.transition, after

    def _has_exited(self, element: _Element) -> bool:
        return any(location.rest == "exit" for location in self._nodes[element[0]].locations)

    def _facts_at(self, number: int) -> Facts:
        if number not in self._facts:
            self._facts[number] = Facts(claims_of(self._model, self._nodes[number]))
        return self._facts[number]

    def _unseen_steps(self, element: _Element) -> list[tuple[int, list[_Element]]]:
        """The threads that may take a step here which the scheduler does not see, and where that leads to."""
        node = self._nodes[element[0]]
        found = []
        for thread in node.threads:
            location = node.locations[thread]
            if self._native.is_seen(location):
                continue
            steps = list(self._successors(element, thread))
            if all(self._may_be_unseen(element[0], transition) for transition, _ in steps):
                found.append((thread, [after for _, after in steps]))
        return found

    def _may_be_unseen(self, number: int, transition: Transition) -> bool:
        location = transition.source
        where = self._native.place(location)
        if transition.target.rest in ("exit", "end"):
            self._notes[f"{where} ends, and the scheduler does not see it"] = None
            return False
        if location not in self._native.dropped:
            if transition.accesses:
                self._notes[f"{where} touches what others touch, and the scheduler does not see it"] = None
            return not transition.accesses
        effect = self._native.dropped[location]
        if self._level < 2:
            self._say(f"{where} is left to the program, which this level does not do")
        if effect is None:
            self._left_out_unseen[transition] = None
        else:
            words = _words(transition)
            known = [self._value(number, access) for access in words]
            if len(words) != 1 or words[0].writes or known != [effect] or not _is_plain(words[0].variable, effect):
                self._say(f"{where} gives always {effect}, which may not be what it reads")
        return True

    def _index(self, number: int, access: Access) -> int | None:
        """The element of an array that is accessed at a node, if it is always the same."""
        if access.index is None:
            return None
        index = substitute(access.index, self._facts_at(number).known)
        return index.value if index.is_constant else None

    def _value(self, number: int, access: Access) -> int | None:
        """What is read at a node, if it is always the same."""
        term = access.variable.term
        if access.variable.is_array:
            if access.index is None:
                return None
            term = select(term, access.index)
        value = substitute(term, self._facts_at(number).known)
        return value.value if value.is_constant else None

    def _way(self, element: _Element, thread: int, point: int) -> _Way | None:
        """How to come, by unseen steps, to where a thread has its turn at a point, whatever the inputs are."""
        key = (element, thread, point)
        if key not in self._ways:
            self._ways[key] = self._find_way(element, thread, point)
        return self._ways[key]

    def _find_way(self, start: _Element, thread: int, point: int) -> _Way | None:
        def is_goal(element: _Element) -> bool:
            node = self._nodes[element[0]]
            return self._native.points.get(node.locations[thread]) == point and thread in node.threads

        if is_goal(start):
            return _Way(frozenset((start,)), frozenset((start[0],)), 0)
        choices: dict[_Element, list[tuple[int, list[_Element]]]] = {}
        goals: set[_Element] = set()
        pending = [start]
        while pending:
            element = pending.pop()
            if is_goal(element):
                goals.add(element)
            elif element not in choices:
                if len(choices) >= _LARGEST_REGION:
                    return None
                choices[element] = self._unseen_steps(element)
                pending += [after for _, afters in choices[element] for after in afters]
        moved = dict.fromkeys(goals, 0)  # of those that surely come to a goal
        chosen: dict[_Element, list[_Element]] = {}
        users: dict[_Element, list[_Element]] = {}
        for element, steps in choices.items():
            for _, afters in steps:
                for after in afters:
                    users.setdefault(after, []).append(element)
        work = list(choices)
        while work:
            element = work.pop()
            if element in moved:
                continue
            for other, afters in steps_of(choices, element):
                together = _surely(element, other, afters, moved, choices, self._nodes)
                if together is None:
                    continue
                for each, its_afters, bits in together:
                    moved[each] = bits
                    chosen[each] = its_afters
                    work += users.get(each, ())
                break
        if start not in moved:
            return None
        passed, reached = {start}, set()
        pending = [start]
        while pending:
            element = pending.pop()
            if element in goals:
                reached.add(element)
                continue
            for after in chosen[element]:
                if after not in passed:
                    passed.add(after)
                    pending.append(after)
        return _Way(frozenset(reached), frozenset(number for number, _ in passed), moved[start])

    def _move(self, elements: _Elements, thread: int, point: int, arrival: int | None) -> _Move | None:
        """An event of a thread at a point, at all of the nodes; if it is known, the thread arrives at `arrival` then.
        None: the proof does not permit it everywhere."""
        key = (elements, thread, point, arrival)
        if key not in self._moves:
            self._moves[key] = self._make_move(elements, thread, point, arrival)
        return self._moves[key]

    def _make_move(self, elements: _Elements, thread: int, point: int, arrival: int | None) -> _Move | None:
        steps: list[tuple[int, Transition]] = []
        after: set[_Element] = set()
        passed: set[int] = set()
        moved = -1
        exits = False
        for element in elements:
            way = self._way(element, thread, point)
            if way is None:
                return None
            passed |= way.passed
            moved &= way.moved
            pending = list(way.reached)
            while pending:
                current = pending.pop()
                for transition, following in self._successors(current, thread):
                    steps.append((current[0], transition))
                    target = self._location(following, thread)
                    if self._has_exited(following):
                        exits = True
                        self._may_exit(following, thread)
                    elif target in self._native.inner and thread in self._nodes[following[0]].threads:
                        pending.append(following)  # of the same call, and at once
                    else:
                        after.add(following)
        if arrival is not None:
            known = {each for each in after if arrival in self._arriving(each, thread)}
            settled = [self._settled(each[0], (*each[1], (thread, arrival))) for each in known]
            after = {each for each in settled if each is not None}
        steps = list(dict.fromkeys(steps))
        move = _Move(thread, tuple(steps), frozenset(after), frozenset(passed), moved | 1 << thread, exits=exits)
        if steps:
            self._describe(move)
        return move

    def _may_exit(self, element: _Element, thread: int) -> None:
        """That no thread that goes on unseen can come to what the proof does not look at, since the program ends."""
        for location in self._nodes[element[0]].locations:
            if (
                location.thread != thread
                and self._native.shown(location) is None
                and self._native.ahead(location).fails
            ):
                self._say(
                    f"{self._native.place(location)} can go on without the scheduler while {self._name(thread)} ends the "
                    "program; end the other thread before that"
                )

    def _describe(self, move: _Move) -> None:
        """What an event does."""
        words: set[tuple[Variable, int | None]] = set()
        values: set[int | None] = set()
        kinds: set[tuple[bool, bool]] = set()
        single = True
        for number, transition in move.steps:
            for access in transition.accesses:
                word = (access.variable, self._index(number, access))
                move.touched[word] = move.touched.get(word, False) or access.writes
            own = _words(transition)
            single = single and len(own) == 1
            for access in own:
                words.add((access.variable, self._index(number, access)))
                values.add(self._value(number, access))
                kinds.add((access.reads, access.writes))
            move.goes_on |= len(own) > 1 and not self._native.is_call(transition.source)
            move.prints |= self._native.prints(transition)
            move.ends |= transition.target.rest == "end"
        if single and len(words) == 1 and kinds in ({(True, False)}, {(False, True)}):
            (word,) = words
            if not word[0].is_array or word[1] is not None:
                move.word = word
                move.writes = kinds == {(False, True)}
                move.value = values.pop() if len(values) == 1 else None

    def _arriving(self, element: _Element, thread: int) -> frozenset[int]:
        """The points at which a thread can arrive. Where it has its turn the proof knows more than its code says, and
        that holds at other times as well: nobody else has to do with its unseen steps."""
        found: set[int] = set()
        passed = {element}
        pending = [element]
        while pending:
            current = pending.pop()
            location = self._location(current, thread)
            shown = self._native.shown(location)
            if shown is not None:
                found.add(shown)
            elif thread not in self._nodes[current[0]].threads:
                found |= self._native.ahead(location).arrivals
            else:
                for _, after in self._successors(current, thread):
                    if after not in passed:
                        passed.add(after)
                        pending.append(after)
        return frozenset(found)

    # ------------------------------------------------------------------------------------------------------- stages

    def _follow(self, vertex: _Vertex, option: Option) -> _Walk | None:
        """The stage of an option, if executions can go there."""
        stage = self._stage(vertex.stage)
        decides = len(stage.options) > 1 and not option.sure
        if len(stage.options) > 1:
            move = self._move(vertex.elements, option.thread, option.begin, None)
            if move is None:
                self._say_stuck(vertex, option)
                return None
            if decides:
                self._all_arrivals(vertex, option, move)
        first: Step | None = None
        if decides:
            earliest = next(other for other in stage.options if other.thread == option.thread)
            first = self._stage(earliest.section).lanes[option.thread][0]
        walk = _Walk(vertex, option.section, option, [], decides)
        if not self._order(walk, first):
            return None
        self._walks.append(walk)
        vertex.after.append(walk)
        return walk

    def _say_stuck(self, vertex: _Vertex, option: Option) -> None:
        self._say(
            f"{self._native.at(option.thread, option.begin)} may go first after section {vertex.stage}, but in the "
            f"schedule it may not{self._because()}"
        )

    def _because(self) -> str:
        return "".join(f"; {note}" for note in list(self._notes)[:3])

    def _all_arrivals(self, vertex: _Vertex, option: Option, move: _Move) -> None:
        """That wherever the thread can arrive after it decides, there is an option, and that it does arrive."""
        own = {other.arrival for other in self._stage(vertex.stage).options if other.thread == option.thread}
        where = self._native.at(option.thread, option.begin)
        for element in move.after:
            for point in self._arriving(element, option.thread) - own:
                there = self._native.at(option.thread, point)
                self._say(f"{where} can go on to {there} after section {vertex.stage}, for which there is no section")
            if self._native.ahead(self._location(element, option.thread)).endless:
                self._say(
                    f"{where} decides how all go on after section {vertex.stage}, but may go round a loop for ever "
                    "before it is seen again; let the loop have an end, or do something in it that others can see"
                )

    def _order(self, walk: _Walk, first: Step | None) -> bool:
        """Find an order of the stage's events, by trying. `first` is the step that decides, as the runtime takes it."""
        stage = self._stage(walk.stage)
        option = walk.option
        elements = walk.source.elements
        done = [0] * self._tables.threads
        left = sum(stage.events)
        trail: list[tuple[_Move, _Elements]] = []
        choices: list[tuple[int, list[int]]] = []  # where there were others to go first
        failed: set[tuple[tuple[int, ...], _Elements]] = set()
        best = (-1, list(done), elements)
        attempts = 0
        while left:
            move = None
            candidates: list[int] = []
            if first is not None and not trail:
                if all(clock <= 0 for _, clock in first.waits):
                    move = self._move(elements, option.thread, option.begin, option.arrival)
                    if move is not None and not move.after and not move.exits:
                        return False  # nothing arrives there
            elif (tuple(done), elements) not in failed:
                candidates = self._candidates(stage, done, elements)
                while candidates and move is None:
                    thread = candidates.pop()
                    move = self._move(elements, thread, stage.lanes[thread][done[thread]].point, None)
            if move is None:
                if len(trail) > best[0]:
                    best = (len(trail), list(done), elements)
                attempts += 1
                failed.add((tuple(done), elements))
                while choices and not choices[-1][1]:
                    choices.pop()
                if not choices or attempts > _MOST_ATTEMPTS:
                    self._say_no_order(walk, stage, best[1], best[2])
                    return False
                place, others = choices[-1]
                while len(trail) > place:
                    undone, elements = trail.pop()
                    done[undone.thread] -= 1
                    left += 1
                thread = others.pop()
                move = self._move(elements, thread, stage.lanes[thread][done[thread]].point, None)
                if move is None:
                    continue
            elif candidates:
                choices.append((len(trail), candidates))
            self._hints[elements] = move.thread
            trail.append((move, elements))
            done[move.thread] += 1
            left -= 1
            elements = move.after
            if not elements and left:
                self._say(f"section {walk.stage} goes on after the program has ended")
                return False
        clocks = [0] * self._tables.threads
        for move, _ in trail:
            thread = move.thread
            step = stage.lanes[thread][clocks[thread]]
            clocks[thread] += 1
            flags = step.flags
            if first is not None and not walk.events:
                step = first
                flags = first.flags & (self._omit | self._continues) | self._publish | self._late
            walk.events.append(_Event(thread, clocks[thread], move, step, flags))
            walk.by_clock[thread, clocks[thread]] = flags
            walk.moved |= move.moved
        for move in {move for move, _ in trail}:
            walk.passed |= move.passed
        return True

    def _candidates(self, stage: Stage, done: Sequence[int], elements: _Elements) -> list[int]:
        """The threads whose next event need not wait for others; the last of them is tried first."""
        found = [
            thread
            for thread, lane in enumerate(stage.lanes)
            if done[thread] < len(lane) and all(done[other] >= clock for other, clock in lane[done[thread]].waits)
        ]
        found.sort(key=lambda thread: (thread == self._hints.get(elements), -thread))
        return found

    def _say_no_order(self, walk: _Walk, stage: Stage, done: Sequence[int], elements: _Elements) -> None:
        waiting = " and ".join(
            self._native.at(thread, lane[done[thread]].point)
            for thread, lane in enumerate(stage.lanes)
            if done[thread] < len(lane)
        )
        turns = " or ".join(
            self._native.place(self._nodes[number].locations[thread])
            for number in sorted({number for number, _ in elements})[:1]
            for thread in self._nodes[number].threads
        )
        self._say(
            f"section {walk.stage} goes on with {waiting}, "
            + (f"but in the schedule it is the turn of {turns}" if turns else "but in the schedule nobody can")
            + self._because()
        )

    def _over(self, vertex: _Vertex) -> None:
        """That nothing is left to do after a stage that nothing follows, but what the scheduler does not see."""
        going_on: dict[_Element, list[list[_Element]]] = {}
        pending = list(vertex.elements)
        while pending:
            element = pending.pop()
            if element not in going_on and self._nodes[element[0]].edges:
                going_on[element] = [afters for _, afters in self._unseen_steps(element)]
                pending += [after for afters in going_on[element] for after in afters]
        bad: set[_Element] = set()
        while more := {
            element
            for element, ways in going_on.items()
            if element not in bad and not any(bad.isdisjoint(afters) for afters in ways)
        }:
            bad |= more
        for number, _ in bad & vertex.elements:
            turns = " or ".join(
                self._native.place(self._nodes[number].locations[t]) for t in self._nodes[number].threads
            )
            self._say(f"nothing follows section {vertex.stage}, but it is the turn of {turns}{self._because()}")
        for number, _ in going_on:
            for thread, location in enumerate(self._nodes[number].locations):
                if self._native.is_seen(location) and self._can_go_on(number, thread):
                    self._say(f"nothing follows section {vertex.stage}, but {self._native.place(location)} can go on")

    # ------------------------------------------------------------------------------------------ what is left out

    def _left_out(self) -> None:
        """That nobody looks at what operations would change that are left out."""
        kept: set[Variable] = set()
        left_out: dict[Transition, bool] = dict.fromkeys(self._left_out_unseen, True)
        for event in {
            (event.move, event.flags & self._omit): event for walk in self._walks for event in walk.events
        }.values():
            self._always(event)
            for _, transition in event.move.steps:
                point = transition.source.point
                if event.flags & self._omit:
                    left_out.setdefault(transition, False)
                elif point is None or point.operation not in _AROUND:
                    kept.update(access.variable for access in transition.accesses)
        for transition, is_unseen in left_out.items():
            location = transition.source
            operation = location.point.operation if location.point else None
            where = self._native.place(location)
            is_unused = self._native.is_unused(location)
            can_fail = not any(access.writes for access in transition.accesses)
            if operation not in _LEFT_OUT | _TELLING:
                self._say(f"{where}: {operation or 'an access'} is left out, which does more than to make threads wait")
            elif operation in _TELLING and can_fail and not is_unused:
                self._say(f"{where}: {operation} is left out, but it may give an error")
            elif operation == "pthread_barrier_wait" and is_unseen and not is_unused:
                self._say(f"{where}: {operation} is left to the program, but what it gives depends on the schedule")
            for access in transition.accesses:
                if access.variable in kept:
                    what = access.variable.display or access.variable.name
                    self._say(f"{where}: {operation} is left out, but something else looks at {what}")
        if self._level >= 1:
            self._ignored = frozenset(self._model.variables.values()) - kept

    def _always(self, event: _Event) -> None:
        """That the runtime takes an event for one, and knows how its operation goes on."""
        point = event.step.point
        where = self._native.place(event.move.location)
        for number, transition in event.move.steps:
            here, there = transition.source.point, transition.target.point
            alone = all(location.rest == "unborn" for location in self._nodes[number].locations[1:])
            operation = here.operation if here else None
            if alone and point >= self._first_point and operation != "pthread_create":
                if not self._tables.points[point - self._first_point].always:
                    self._say(f"{where} happens while the first thread is alone, when the scheduler does not see it")
            if operation == "pthread_barrier_wait" and here is not None and here.ordinal == 0:
                continues = (
                    there is not None
                    and _call_of(transition.source) == _call_of(transition.target)
                    and there.ordinal == here.ordinal + 1
                )
                if continues != bool(event.flags & self._continues):
                    self._say(f"{where}: whether it is the last thread at the barrier is not as the schedule has it")

    # ------------------------------------------------------------------------------------------------- other orders

    def _orders(self) -> None:
        """That all orders which the waits permit are equivalent to the one that was found."""
        summaries: dict[_Walk, _Replay] = {}
        for walk in self._walks:
            befores: list[_Walk | None] = list(walk.source.before)
            if walk.source.stage == 0 and walk.source.number == 0:
                befores.append(None)
            for before in befores:
                if before is not None and before not in summaries:
                    summaries[before] = self._replay(before, None, None)
                self._replay(walk, before, summaries[before] if before is not None else None, report=True)
            self._publication(walk)
            self._redirects(walk)
            if len(self._found) > 20:
                return

    def _replay(self, walk: _Walk, before: _Walk | None, summary: _Replay | None, *, report: bool = False) -> _Replay:
        """Go through the events of a stage, after those of the stage before it, with what each thread knows to have
        happened."""
        counts = self._stage(before.stage).events if before is not None else (0,) * self._tables.threads
        replay = _Replay.after(summary, counts) if summary is not None else _Replay.new(self._tables.threads)
        for position, event in enumerate(walk.events):
            known = replay.known[event.thread]
            for other, clock in event.step.waits:
                told: int | None = None
                if clock > 0:
                    told = walk.flags_of(other, clock)
                    seen: Sequence[int] | None = replay.seen.get((other, clock))
                elif before is not None and clock + counts[other] > 0 and summary is not None:
                    told = before.flags_of(other, clock + counts[other])
                    seen = [a - b for a, b in zip(summary.seen[other, clock + counts[other]], counts, strict=True)]
                else:
                    continue
                if report and (told is None or not told & (self._publish | self._late)):
                    self._say(
                        f"section {walk.stage}: {self._native.at(event.thread, event.step.point)} waits for an event of "
                        f"{self._name(other)} of which it is not told"
                    )
                if seen is not None:
                    known[:] = map(max, known, seen)
            known[event.thread] = event.clock
            for conflict in replay.take(event, self._touches(event)):
                if report:
                    self._say_unordered(walk, event, conflict)
            if position == 0 and walk.decides:
                for others in replay.known:
                    others[:] = map(max, others, known)
        return replay

    def _touches(self, event: _Event) -> Iterator[tuple[object, int | None, bool]]:
        """What an event touches natively: the word, the element of it, and whether it writes."""
        move = event.move
        if event.flags & self._redirect:
            if event.step.redirect >= 8 * len(self._tables.constants):
                yield ("cell", event.step.redirect), None, move.writes
        elif not event.flags & self._omit:
            for (variable, index), writes in move.touched.items():
                if variable not in self._ignored:
                    yield variable, index, writes
        if move.prints:
            yield "output", None, True

    def _say_unordered(self, walk: _Walk, event: _Event, conflict: _Conflict) -> None:
        word = conflict.word
        if isinstance(word, Variable):
            why = f"both use {word.display or word.name}"
        else:
            why = {"output": "both print", "process": "one of them ends the program"}.get(
                str(word), "both use one cell"
            )
        other = conflict.event
        self._say(
            f"section {walk.stage}: {self._native.at(event.thread, event.step.point)} does not wait for "
            f"{self._native.at(other.thread, other.step.point)}, but {why}"
        )

    def _publication(self, walk: _Walk) -> None:
        """That others learn of what they wait for when it is over."""
        events = self._stage(walk.stage).events
        goes_on = walk.target is not None and bool(walk.target.after)
        for event in walk.events:
            where = f"section {walk.stage}: {self._native.at(event.thread, event.step.point)}"
            told = event.flags & (self._publish | self._late)
            is_last = event.clock == events[event.thread]
            if goes_on and is_last and not told:
                self._say(f"{where} is the last of its thread in the section, but nobody is told when it is over")
            if (
                (event.move.prints or event.move.goes_on)
                and event.flags & self._publish
                and not event.flags & self._late
            ):
                self._say(f"{where} goes on after its instruction, but others are told that it is over")
            if event.flags & self._late and not walk.decides or (walk.decides and event is not walk.events[0]):
                self._late_event(event, where, goes_on)

    def _late_event(self, event: _Event, where: str, goes_on: bool) -> None:
        if not event.flags & self._late:
            return
        if event.move.ends:
            self._say(f"{where} ends its thread, so that nobody is told that it is over")
        elif goes_on and any(self._native.ahead(step.target).endless for _, step in event.move.steps):
            self._say(
                f"{where} may go round a loop for ever before others are told that it is over; let the loop have an end, "
                "or do something in it that others can see"
            )

    # ------------------------------------------------------------------------------------------------ redirections

    def _redirects(self, walk: _Walk) -> None:
        """That redirected loads get what the loads of the schedule get, and that memory is as it should be where it is
        read and when the stage ends."""
        latest: dict[Variable, dict[int | None, _Event]] = {}  # the last store to a word
        cells: dict[int, _Event] = {}
        for event in walk.events:
            move = event.move
            where = f"section {walk.stage}: {self._native.at(event.thread, event.step.point)}"
            if event.flags & self._omit:
                if event.flags & self._redirect:
                    self._say(f"{where} is left out and redirected")
                continue
            if event.flags & self._redirect:
                self._redirected(event, where, latest, cells)
                continue
            for (variable, index), writes in move.touched.items():
                stores = latest.setdefault(variable, {})
                for at, store in stores.items():
                    if (
                        store.flags & self._redirect
                        and (at == index or index is None)
                        and not (writes and at == index and not self._reads(move, variable))
                    ):
                        self._say(
                            f"{where} uses memory to which {self._native.at(store.thread, store.step.point)} has not "
                            "written what it should"
                        )
                if writes:
                    stores[index] = event
        for stores in latest.values():
            for store in stores.values():
                if store.flags & self._redirect:
                    self._say(
                        f"section {walk.stage}: what {self._native.at(store.thread, store.step.point)} writes last does "
                        "not come to memory"
                    )

    @staticmethod
    def _reads(move: _Move, variable: Variable) -> bool:
        return any(a.reads for _, step in move.steps for a in step.accesses if a.variable is variable)

    def _redirected(
        self, event: _Event, where: str, latest: dict[Variable, dict[int | None, _Event]], cells: dict[int, _Event]
    ) -> None:
        move, offset = event.move, event.step.redirect
        constants = self._tables.constants
        if move.word is None or self._native.is_call(move.location) or move.prints or move.word[0].term.width > 64:
            self._say(f"{where} is redirected, but it is no load or store of a single word")
            return
        variable, index = move.word
        if offset < 0 or offset % 8 or offset + 8 > self._tables.area_size:
            self._say(f"{where} is redirected to outside of the area")
        elif offset < 8 * len(constants):
            value = constants[offset // 8]
            if move.writes:
                self._say(f"{where} writes to a constant")
            elif move.value != value or not _is_plain(variable, value):
                self._say(f"{where} reads the constant {value}, which may not be what it reads in the schedule")
        elif move.writes:
            latest.setdefault(variable, {})[index] = event
            cells[offset] = event
        else:
            stores = latest.get(variable, {})
            if None in stores and index is not None or stores.get(index) is None:
                self._say(f"{where} reads a cell, but what it reads in the schedule is not from this section")
            elif cells.get(offset) is not stores[index]:
                store = stores[index]
                self._say(
                    f"{where} reads a cell that is not the one of {self._native.at(store.thread, store.step.point)}, which "
                    "is what it reads in the schedule"
                )

    # ---------------------------------------------------------------------------------------------- nobody left out

    def _standing(self) -> None:
        """That a thread that has no event any more is where it is expected."""
        for vertex in self._vertices:
            options = self._stage(vertex.stage).options
            for thread in range(self._tables.threads):
                expected = self._stage(vertex.stage).standing[thread]
                rests = not options or (len(options) == 1 and self._never_again(vertex, thread))
                if not rests and (len(options) == 1 or expected == self._nowhere):
                    continue
                places = self._standing_at(vertex, thread, created=not rests)
                for point in sorted(places - {expected}):
                    self._say(
                        f"{self._native.at(thread, point)} has no event after section {vertex.stage}, but is expected "
                        "elsewhere: it would leave the schedule"
                    )

    def _standing_at(self, vertex: _Vertex, thread: int, *, created: bool) -> set[int]:
        """The points at which a thread may be seen after a stage. created: also if it is just being created."""
        places: set[int] = set()
        for element in vertex.elements:
            location = self._location(element, thread)
            if location.rest == "unborn":
                if created:
                    places |= self._native.ahead(self._model.threads[thread].entry).arrivals
            else:
                places |= self._arriving(element, thread)
        return places - {self._nowhere}

    def _never_again(self, vertex: _Vertex, thread: int) -> bool:
        """Whether only one way goes on from a stage, for ever, without an event of the thread."""
        passed: set[_Vertex] = set()
        while vertex not in passed:
            passed.add(vertex)
            if len(self._stage(vertex.stage).options) != 1 or not vertex.after:
                return False
            (walk,) = vertex.after
            if walk.target is None or self._stage(walk.stage).events[thread]:
                return False
            vertex = walk.target
        return True

    def _fairness(self) -> None:
        """That no execution passes over for ever a thread that can go on again and again. On a cycle that does, the
        thread neither moves nor has an option where others have some, too: who is offered a turn again and again takes
        one."""
        count = len(self._vertices)
        for thread in range(self._tables.threads):
            successors: list[list[int]] = [[] for _ in range(count + len(self._walks))]
            for number, walk in enumerate(self._walks, count):
                options = self._stage(walk.source.stage).options
                offered = len(options) > 1 and any(option.thread == thread for option in options)
                if walk.target is not None and not walk.moved >> thread & 1 and not offered:
                    successors[walk.source.number].append(number)
                    successors[number].append(walk.target.number)
            for number in on_cycles(successors):
                if number >= count:
                    walk = self._walks[number - count]
                    for node in sorted(walk.passed):
                        location = self._nodes[node].locations[thread]
                        if location in self._native.dropped or self._can_go_on(node, thread):
                            self._say(
                                f"{self._native.place(location)} can go on, but the sections from {walk.stage} on can be "
                                "repeated for ever without it"
                            )

    def _can_go_on(self, number: int, thread: int) -> bool:
        location = self._nodes[number].locations[thread]
        return location.rest is None and not self._prover.implies(self._facts_at(number), negation(location.enabled))


def steps_of(
    choices: Mapping[_Element, list[tuple[int, list[_Element]]]], element: _Element
) -> Iterator[tuple[int, list[_Element]]]:
    return iter(choices.get(element, ()))


def _surely(
    element: _Element,
    thread: int,
    afters: list[_Element],
    moved: Mapping[_Element, int],
    choices: Mapping[_Element, list[tuple[int, list[_Element]]]],
    nodes: Sequence[Node],
) -> list[tuple[_Element, list[_Element], int]] | None:
    """Whether a thread's unseen steps from here surely lead on: to where it is known, at once or after a loop that ends.
    Gives the elements for which that is so, with where they lead to and the threads that move."""
    if all(after in moved for after in afters):
        bits = -1
        for after in afters:
            bits &= moved[after]
        return [(element, afters, bits | 1 << thread)]
    inside: dict[_Element, list[_Element]] = {element: afters}
    pending = [after for after in afters if after not in moved]
    leaves = any(after in moved for after in afters)
    while pending:
        current = pending.pop()
        if current in inside:
            continue
        own = next((targets for other, targets in choices.get(current, ()) if other == thread), None)
        if own is None:
            return None
        inside[current] = own
        leaves = leaves or any(after in moved for after in own)
        pending += [after for after in own if after not in moved]
    order = {each: position for position, each in enumerate(inside)}
    rounds = on_cycles(
        [
            [] if _ends(nodes[each[0]].locations[thread]) else [order[after] for after in targets if after in order]
            for each, targets in inside.items()
        ]
    )
    if rounds or not leaves:
        return None
    return [(each, targets, 1 << thread) for each, targets in inside.items()]


def _is_plain(variable: Variable, value: int) -> bool:
    """Whether a value is the same natively: addresses are others there."""
    return variable.term.width < 64 or value not in _ADDRESSES


@dataclass(frozen=True, slots=True)
class _Conflict:
    """An event that should have been waited for, and what both touch."""

    event: _Event
    word: object


@dataclass(slots=True)
class _Touched:
    """Who has written a word last, and who has read it since: by thread, their clocks and events."""

    writer: tuple[int, int, _Event] | None = None
    readers: dict[int, tuple[int, _Event]] = field(default_factory=dict)


@dataclass(slots=True)
class _Replay:
    """What has happened so far, seen by each thread. known: the clocks of all that a thread knows. seen: what a thread
    knew after an event. latest: each thread's last event."""

    known: list[list[int]]
    seen: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    words: dict[object, dict[int | None, _Touched]] = field(default_factory=dict)
    latest: dict[int, tuple[int, _Event]] = field(default_factory=dict)
    ended: tuple[int, int, _Event] | None = None

    @classmethod
    def new(cls, threads: int) -> _Replay:
        return cls([[0] * threads for _ in range(threads)])

    @classmethod
    def after(cls, other: _Replay, counts: Sequence[int]) -> _Replay:
        """The same at the end of a stage with so many events, which the clocks no longer count. Cells are others now."""
        words: dict[object, dict[int | None, _Touched]] = {}
        for word, parts in other.words.items():
            if isinstance(word, tuple):
                continue
            words[word] = {
                index: _Touched(
                    None if part.writer is None else _earlier(part.writer, counts),
                    {thread: (clock - counts[thread], event) for thread, (clock, event) in part.readers.items()},
                )
                for index, part in parts.items()
            }
        return cls(
            [[clock - count for clock, count in zip(known, counts, strict=True)] for known in other.known],
            {},
            words,
            {thread: (clock - counts[thread], event) for thread, (clock, event) in other.latest.items()},
            None if other.ended is None else _earlier(other.ended, counts),
        )

    def take(self, event: _Event, touches: Iterable[tuple[object, int | None, bool]]) -> Iterator[_Conflict]:
        """The next event: those that it should know of, but does not."""
        thread, clock = event.thread, event.clock
        known = self.known[thread]
        conflicts: list[_Conflict] = []
        if self.ended is not None and known[self.ended[0]] < self.ended[1]:
            conflicts.append(_Conflict(self.ended[2], "process"))
        if event.move.exits:
            conflicts += [
                _Conflict(other, "process") for number, (until, other) in self.latest.items() if known[number] < until
            ]
            self.ended = (thread, clock, event)
        self.latest[thread] = (clock, event)
        for word, index, writes in touches:
            parts = self.words.setdefault(word, {})
            for at, part in parts.items():
                if at != index and at is not None and index is not None:
                    continue
                if part.writer is not None and known[part.writer[0]] < part.writer[1]:
                    conflicts.append(_Conflict(part.writer[2], word))
                if writes:
                    conflicts += [
                        _Conflict(other, word)
                        for number, (until, other) in part.readers.items()
                        if known[number] < until
                    ]
            if not writes:
                parts.setdefault(index, _Touched()).readers[thread] = (clock, event)
            else:
                if index is None:
                    parts.clear()
                parts[index] = _Touched((thread, clock, event))
        self.seen[thread, clock] = tuple(known)
        return iter(conflicts)


def _earlier(one: tuple[int, int, _Event], counts: Sequence[int]) -> tuple[int, int, _Event]:
    thread, clock, event = one
    return thread, clock - counts[thread], event
