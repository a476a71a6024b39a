"""A proof as a native program can follow it.

A native program does not know at which node of the proof it is. It knows at which points its threads have been seen, so
it knows a set of nodes: its *knowledge*. When a thread has an event, the knowledge becomes that of all nodes to which
some transition of the thread leads from there; and where the thread arrives next tells some of them apart (`_Observer`,
a subset construction). A thread may run if it may at every node of the knowledge, so every run that this permits is a
path of the proof, whatever the program does between two points.

Steps that no point stands for touch nothing that is shared: it does not matter when they happen, so they are taken as
soon as the proof gives the thread its turn. A thread can go round only finitely often without being seen: `points` sees
to it.

A *unit* is a sequence of events without a decision: at its end, it depends on where a thread is or arrives how to go
on, or several threads may. A unit that is followed by nothing but itself can be repeated: longer units need fewer
meetings of the threads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NoReturn

from mazurka.constrained.constants import constants_at
from mazurka.constrained.enforce.points import NOWHERE, Points, refuse_inside
from mazurka.constrained.graphs import reached, section_starts
from mazurka.constrained.model import Location, SharedAccess, StateVariable, Transition, dependent
from mazurka.constrained.model.terms import Term, substitute
from mazurka.constrained.proof import Proof
from mazurka.errors import InputError
from mazurka.frontends.c.roles import operations

Knowledge = frozenset[int]  # nodes of the proof

_Step = tuple[int, Transition, int]  # from a node to a node

_MOST_KNOWLEDGE = 50_000  # sets of nodes

# Their outcome is what the schedule says, so it must say one.
_BY_SCHEDULE = operations("wait", "wake", of=["condition", "barrier"])


class Unfollowable(InputError):
    """Where a thread is cannot be told from what the native program shows of it."""


@dataclass(frozen=True, slots=True, eq=False)
class UnitEvent:
    """What a thread does at a point, in one of some ways. `values` are those of the scalar shared variables that it
    reads, where they are known to be always the same, and `indices`, for each access, the index of the array's element
    where that is. `is_inner`: it is inside of a call that is one event as a whole."""

    thread: int
    transitions: tuple[Transition, ...]
    accesses: tuple[SharedAccess, ...]
    indices: tuple[int | None, ...]
    values: Mapping[StateVariable, int]
    is_inner: bool = False

    @property
    def location(self) -> Location:
        """One of those at which it begins; all have the same point."""
        return self.transitions[0].source


@dataclass(eq=False, slots=True)
class Unit:
    """`thread` has its event at the point `begin`; all `events` come after `start` and before `end`. `arrival` is the
    point at which the thread arrives after its event, if it could also arrive elsewhere (`decides`), so that the unit
    is known only then."""

    start: Knowledge
    thread: int
    begin: int
    arrival: int
    decides: bool
    events: tuple[UnitEvent, ...]
    end: Knowledge


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    """How a thread can go on: its event at a point (None: inside of a call), where it arrives (None: that is no news)
    and what is known then."""

    thread: int
    begin: int | None
    arrival: int | None
    event: UnitEvent
    target: Knowledge


def find_units(proof: Proof, points: Points, *, most_events: int = 0) -> dict[Knowledge, list[Unit]]:
    """For what is known between units, the ways to go on; the first is what is known at the start. A unit is repeated
    as long as no thread has more than `most_events` in it."""
    ways = _Observer(proof, points).ways()
    first = next(iter(ways))
    starts = _starts(ways, first)
    found = {start: [_unit(start, way, ways, starts) for way in ways[start]] for start in starts}
    for start, units in found.items():
        if len(units) == 1 and units[0].end == start and not units[0].decides:
            longest = max(Counter(event.thread for event in units[0].events).values())
            units[0].events *= max(1, most_events // longest)
    return found


def continues(transition: Transition) -> bool:
    """Whether the library's operation goes on with a second event."""
    here, there = transition.source.point, transition.target.point
    if here is None or there is None:
        return False
    return (here.line, here.calls, here.ordinal + 1) == (there.line, there.calls, there.ordinal)


# ------------------------------------------------------------------------------------------------ knowledge


@dataclass
class _Observer:
    """Goes through all that can be known."""

    proof: Proof
    points: Points
    _constants: dict[int, dict[Term, Term]] = field(default_factory=dict)
    _blame: Location | None = None

    def ways(self) -> dict[Knowledge, list[_Way]]:
        """The ways to go on from all that can be known; first from what is known at the start."""
        found: dict[Knowledge, dict[int, list[_Way]]] = {}
        first = self._settled({self.proof.uncovered(0)})
        pending = [first]
        while pending:
            known = pending.pop()
            if known in found:
                continue
            if len(found) == _MOST_KNOWLEDGE:
                raise Unfollowable("the schedule is too large for a native build; try an earlier one")
            found[known] = self._ways_from(known)
            pending += {way.target for ways in found[known].values() for way in ways}
        self._remove_dead_ends(found)
        if first not in found:
            self._refuse()
        return {known: [way for own in ways.values() for way in own] for known, ways in found.items()}

    def _remove_dead_ends(self, found: dict[Knowledge, dict[int, list[_Way]]]) -> None:
        """A thread may not run if that can lead to where no thread may, although the program has not ended; and what
        cannot be reached then is left out."""
        first = next(iter(found))
        before: dict[Knowledge, list[tuple[Knowledge, int]]] = {}
        for known, ways in found.items():
            for thread, own in ways.items():
                for way in own:
                    before.setdefault(way.target, []).append((known, thread))
        dead = [known for known, ways in found.items() if not ways and not self._is_end(known)]
        for known in dead:  # which grows meanwhile
            for earlier, thread in before.get(known, ()):
                if found[earlier].pop(thread, None) is not None and not found[earlier]:
                    dead.append(earlier)
        starts = [first] if first not in dead else []
        alive = reached(starts, lambda known: (way.target for own in found[known].values() for way in own))
        for known in [known for known in found if known not in alive]:
            del found[known]

    def _refuse(self) -> NoReturn:
        place = self._blame.point.source if self._blame and self._blame.point else "the program"
        raise Unfollowable(
            f"{place}: which way a thread goes on from here cannot be told from where it arrives next, so that a "
            "native build cannot follow this schedule; let the two ways begin with different accesses"
        )

    def _is_end(self, known: Knowledge) -> bool:
        return not any(self.proof.nodes[node].edges for node in known)

    def _threads(self, known: Iterable[int]) -> list[int]:
        """Those that may run at every node."""
        sets = [frozenset(self.proof.nodes[node].threads) for node in known]
        return sorted(frozenset.intersection(*sets)) if sets else []

    def _location(self, node: int, thread: int) -> Location:
        return self.proof.nodes[node].locations[thread]

    def _settled(self, known: Iterable[int]) -> Knowledge:
        """What is known when all steps are taken that nobody sees. A node at which the program has ended is no news
        where it may as well go on: there is nobody left to run then."""
        nodes = set(known)
        while True:
            nodes = {node for node in nodes if self.proof.nodes[node].edges} or nodes
            unseen = next(
                (
                    thread
                    for thread in self._threads(nodes)
                    if any(self._location(node, thread) not in self.points.visible for node in nodes)
                ),
                None,
            )
            if unseen is None:
                return frozenset(nodes)
            nodes = self._passed(nodes, unseen)

    def _passed(self, nodes: set[int], thread: int) -> set[int]:
        """Where a thread comes by steps that nobody sees, for as long as it is its turn."""
        reached: set[int] = set()
        result: set[int] = set()
        pending = list(nodes)
        while pending:
            node = pending.pop()
            if node in reached:
                continue
            reached.add(node)
            steps = [] if self._location(node, thread) in self.points.visible else self._steps(node, thread)
            pending += [target for _, _, target in steps]
            if not steps:
                result.add(node)
        return result

    def _steps(self, node: int, thread: int) -> list[_Step]:
        """The steps of a thread at a node. An assumption that does not hold ends the native program."""
        steps = [
            (node, edge.transition, self.proof.uncovered(edge.target))
            for edge in self.proof.nodes[node].edges
            if edge.transition.thread == thread
        ]
        return [step for step in steps if step[1].target.rest != "stuck"] or steps

    def _ways_from(self, known: Knowledge) -> dict[int, list[_Way]]:
        threads = self._threads(known)
        inside = [
            thread for thread in threads if all(self._location(node, thread) in self.points.inner for node in known)
        ]
        if inside:  # whoever is inside of a call ends it first
            return {inside[0]: self._ways_of(known, inside[0])}
        found: dict[int, list[_Way]] = {}
        for thread in threads:
            ways = self._ways_of(known, thread)
            if ways:
                found[thread] = ways
        if not found and not self._is_end(known):
            standing = self.proof.nodes[min(known)]
            self._blame = next((standing.locations[thread] for thread in standing.threads), None)
        return found

    def _ways_of(self, known: Knowledge, thread: int) -> list[_Way]:
        """Empty: its ways cannot be told apart."""
        by_point: dict[int | None, list[int]] = {}
        for node in sorted(known):
            location = self._location(node, thread)
            by_point.setdefault(None if location in self.points.inner else self.points.of(location), []).append(node)
        if None in by_point and len(by_point) > 1:
            return []
        result: list[_Way] = []
        for begin, nodes in by_point.items():
            steps = [step for node in nodes for step in self._steps(node, thread)]
            arrivals = {} if begin is None else self._told_apart(steps)
            operation = self.points.operation(self._location(nodes[0], thread))
            is_told = arrivals or len({continues(transition) for _, transition, _ in steps}) > 1
            if operation in _BY_SCHEDULE and is_told:
                return []
            for arrival, some in arrivals.items() or [(None, steps)]:
                target = self._settled(target for _, _, target in some)
                result.append(_Way(thread, begin, arrival, self._event(some, is_inner=begin is None), target))
        return result

    def _told_apart(self, steps: Sequence[_Step]) -> dict[int, list[_Step]]:
        """For each point at which the thread may arrive, the steps after which it may. Nothing: it makes no
        difference."""
        found: dict[int, list[_Step]] = {}
        for step in steps:
            for point in self.points.seen_next(step[1].target):
                found.setdefault(point, []).append(step)
        targets = {frozenset(target for _, _, target in some) for some in found.values()}
        return found if len(targets) > 1 else {}

    def _event(self, steps: Sequence[_Step], *, is_inner: bool) -> UnitEvent:
        """What is the same in all of some ways."""
        accesses: dict[tuple[StateVariable, int | None], SharedAccess] = {}
        values: dict[StateVariable, set[int | None]] = {}
        for node, transition, _ in steps:
            known = self._constants_at(node)
            for access in transition.accesses:
                index = None if access.index is None else substitute(access.index, known)
                number = index.value if index is not None and index.is_constant else None
                key = (access.variable, number)
                other = accesses.get(key, access)
                accesses[key] = replace(other, reads=other.reads or access.reads, writes=other.writes or access.writes)
                if access.reads:
                    value = known.get(access.variable.term)
                    values.setdefault(access.variable, set()).add(None if value is None else value.value)
        return UnitEvent(
            steps[0][1].thread,
            tuple(dict.fromkeys(transition for _, transition, _ in steps)),
            tuple(accesses.values()),
            tuple(index for _, index in accesses),
            {variable: only for variable, (only, *others) in values.items() if only is not None and not others},
            is_inner,
        )

    def _constants_at(self, node: int) -> dict[Term, Term]:
        known = self._constants.get(node)
        if known is None:
            known = self._constants[node] = dict(constants_at(self.proof.model, self.proof.nodes[node]))
        return known


# ---------------------------------------------------------------------------------------------------- units


def _only(ways: Sequence[_Way]) -> _Way | None:
    """The way to go on, if there is no decision to make."""
    return ways[0] if len(ways) == 1 and ways[0].arrival is None else None


def _starts(ways: Mapping[Knowledge, Sequence[_Way]], first: Knowledge) -> dict[Knowledge, None]:
    """Where units begin and end: at decisions and ends, and once in each cycle without any."""

    def only(known: Knowledge) -> Knowledge | None:
        way = _only(ways[known])
        return None if way is None else way.target

    return section_starts(first, lambda known: [way.target for way in ways[known]], only, partial(_cut, ways))


def _cut(ways: Mapping[Knowledge, Sequence[_Way]], cycle: Sequence[Knowledge]) -> Knowledge:
    """Where a cycle without decisions is cut: where it is another thread's turn, and never inside of a call."""
    outside = [place for place, known in enumerate(cycle) if not ways[known][0].event.is_inner]
    if not outside:
        refuse_inside(ways[cycle[0]][0].event.location)
    turns = [ways[known][0].thread for known in cycle]
    return cycle[next((place for place in outside if turns[place] != turns[place - 1]), outside[0])]


def _unit(
    start: Knowledge, way: _Way, ways: Mapping[Knowledge, Sequence[_Way]], starts: Mapping[Knowledge, None]
) -> Unit:
    if way.begin is None:
        refuse_inside(way.event.location)
    events = [way.event]
    end = way.target
    while end not in starts:
        only = _only(ways[end])
        assert only is not None
        events.append(only.event)
        end = only.target
    decides = way.arrival is not None
    arrival = way.arrival if way.arrival is not None else NOWHERE
    return Unit(start, way.thread, way.begin, arrival, decides, _with_whole_calls(events), end)


def _with_whole_calls(events: Iterable[UnitEvent]) -> tuple[UnitEvent, ...]:
    """The events of a call that is one event as a whole, as one."""
    result: list[UnitEvent] = []
    latest: dict[int, int] = {}  # by thread: where its last event is in the result
    for event in events:
        at = latest.get(event.thread)
        if not event.is_inner:
            latest[event.thread] = len(result)
            result.append(event)
        elif at is None or not _is_same_call(result[at], event) or _conflicts(event, result[at + 1 :]):
            refuse_inside(event.location)
        else:
            result[at] = _joined(result[at], event)
    return tuple(result)


def _is_same_call(one: UnitEvent, other: UnitEvent) -> bool:
    first, second = one.location.point, other.location.point
    return first is not None and second is not None and (first.line, first.calls) == (second.line, second.calls)


def _conflicts(event: UnitEvent, others: Sequence[UnitEvent]) -> bool:
    return any(
        other.thread != event.thread and dependent(mine, yours)
        for other in others
        for mine in event.transitions
        for yours in other.transitions
    )


def _joined(one: UnitEvent, other: UnitEvent) -> UnitEvent:
    return replace(
        one,
        transitions=one.transitions + other.transitions,
        accesses=one.accesses + other.accesses,
        indices=one.indices + other.indices,
        values={},
    )
