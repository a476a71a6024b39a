"""Where the scheduler sees the threads of a native program, and what they can do in between."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from mazurka.constrained.checker.proofs import place_of
from mazurka.constrained.enforce.validation.reading import ReadTables, header
from mazurka.constrained.graphs import on_cycles, reached
from mazurka.constrained.model import Location, SharedAccess, StateVariable, Transition
from mazurka.constrained.proof import Proof
from mazurka.machine.layout import ADDRESS_BITS, OFFSET_BITS

Line = tuple[str, int]  # a file and a line of its LLVM text

# Numbers from here on may be addresses, which are others in a native program.
_ADDRESSES = range(1 << OFFSET_BITS, 1 << ADDRESS_BITS)


def call_of(location: Location) -> tuple[Line, tuple[Line, ...]] | None:
    """The instruction of the program at a location, and how the thread came there."""
    point = location.point
    return None if point is None or point.line is None else (point.line, point.calls)


def words_of(transition: Transition) -> list[SharedAccess]:
    """The accesses to memory; others are to what only the model knows, such as whether an object exists."""
    return [access for access in transition.accesses if access.variable.address is not None]


def is_plain(variable: StateVariable, value: int) -> bool:
    """Whether a value is the same natively: addresses are others there."""
    return variable.term.width < 64 or value not in _ADDRESSES


@dataclass(frozen=True, slots=True)
class Ahead:
    """What a thread can do before the scheduler sees it again: the points at which it can arrive, whether it may never
    arrive, and whether it may fail on its way."""

    arrivals: frozenset[int]
    endless: bool
    fails: bool


class Places:
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
        self._ahead: dict[Location, Ahead] = {}
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
            if (call := call_of(location)) is not None and all(call_of(source) == call for source in sources)
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

    def ahead(self, location: Location) -> Ahead:
        """What a thread at a location can do before it is seen again, if it does anything on its own."""
        if location not in self._ahead:
            points = {
                each: self.shown(each)
                for each in reached(
                    [location], lambda each: [s.target for s in each.transitions] if self.shown(each) is None else ()
                )
            }
            arrivals = frozenset(point for point in points.values() if point is not None)
            passed = {each: each.transitions for each, point in points.items() if point is None}
            number = {each: position for position, each in enumerate(passed)}
            rounds = on_cycles(
                [
                    [] if each.ends else [number[step.target] for step in steps if step.target in number]
                    for each, steps in passed.items()
                ]
            )
            fails = any(step.failure is not None for steps in passed.values() for step in steps)
            self._ahead[location] = Ahead(arrivals, bool(rounds), fails)
        return self._ahead[location]

    def prints(self, transition: Transition) -> bool:
        """Whether a thread can print something between an event and where it is seen next."""
        if transition not in self._prints:
            unseen = reached([transition], lambda each: () if self.is_seen(each.target) else each.target.transitions)
            self._prints[transition] = any(each.prints for each in unseen)
        return self._prints[transition]

    # -------------------------------------------------------------------------------------- whether it can be so

    def problems(self, tables: ReadTables) -> Iterator[str]:
        """That a point is one place of the program, and a place one point."""
        first = self.constants["FIRST_POINT"]
        owners: dict[int, tuple[object, Location]] = {}
        numbers: dict[object, tuple[int, Location]] = {}
        for location, number in self.points.items():
            call = call_of(location)
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
            own = (line, location.point.ordinal, location.is_silent)
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
        yield from self._going_on_inside()
        yield from self._unseen()
        yield from self._waiting()
        yield from self._dropping()

    def _second_event(self, transition: Transition) -> Iterator[str]:
        """Operations of the library ask for the next number when they go on."""
        source, target = transition.source.point, transition.target.point
        if source is None or target is None or call_of(transition.source) != call_of(transition.target):
            return
        if target.ordinal == source.ordinal + 1 and transition.target in self.points:
            wanted = self.points[transition.source] + 1
            if self.points[transition.target] != wanted:
                yield f"{self.place(transition.target)}: the second event of a call does not have the next point"

    def _going_on_inside(self) -> Iterator[str]:
        """That a call which is seen once is not taken for several events."""
        for transition in self._proof.model.transitions:
            source, target = transition.source, transition.target
            call = call_of(source)
            if source is target or call is None or call != call_of(target) or call[0] not in self._calls:
                continue
            if source.point is not None and source.point.operation is not None:
                continue  # the same operation again: an operation has a point for each of its events
            if source in self.points and self.points[source] == self.points.get(target):
                yield f"{self.place(target)}: what goes on inside of a call is taken for another event"

    def _unseen(self) -> Iterator[str]:
        """That no thread is seen where it has no event."""
        seen = {
            (location.thread, call_of(location), location.point.ordinal if location.point else 0): location
            for location in self.points
            if not location.is_silent
        }
        for thread in self._proof.model.threads:
            for location in thread.locations:
                call = call_of(location)
                if location in self.points or location in self.dropped or location in self.inner or call is None:
                    continue
                if not location.transitions or location.is_silent:
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
            call = call_of(location)
            if call is None or location in self.points:
                yield f"{self.place(location)} is left to the program, but it is no instruction, or an event as well"
            elif effects.setdefault(call[0], (effect, location))[0] != effect:
                yield f"{self.place(location)} is left to the program with two different effects"
        for location in self.points:
            call = call_of(location)
            if call is not None and call[0] in effects:
                yield f"{self.place(location)} is an event, but its instruction is left to the program"
