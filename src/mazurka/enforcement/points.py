"""Where the events of a model are in the native program.

*Visible* events are those that the native program has as well: where a thread is can be told by its next one. Others (a
choice of an input, a round of a local loop) touch nothing that is shared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from mazurka.enforcement.code import Code, Line
from mazurka.enforcement.contexts import Contexts
from mazurka.enforcement.weaving import OPERATIONS
from mazurka.engines.abstract.model import Location, Model, Point, Transition, Unnoticed
from mazurka.errors import InputError

# As in runtime/schedule.h.
NOWHERE, RETURN, FIRST_POINT = 0, 1, 2

ACCESSES = frozenset(("load", "store", "atomicrmw", "cmpxchg"))


@dataclass(slots=True)
class About:
    """place, what: for messages. threads: the set of those that have events there, as bits. always: it is an event even
    before the first thread is created."""

    place: str = "?"
    what: str = "?"
    threads: int = 0
    always: bool = False


@dataclass(slots=True)
class Points:
    """The points of the native program. `numbers` are those of the first event of each line in each context; further
    events of the same call have the next numbers. `visible` are the locations whose events the native program has, too;
    `inner` those inside of calls that are one event as a whole. `sometimes` are lines that are also executed when they
    are no event."""

    code: Code
    contexts: Contexts
    sometimes: set[Line] = field(default_factory=set)
    visible: set[Location] = field(default_factory=set)
    inner: set[Location] = field(default_factory=set)
    numbers: dict[tuple[Line, int], int] = field(default_factory=dict)
    about: list[About] = field(default_factory=list)  # from FIRST_POINT on

    def of(self, location: Location) -> int:
        point = location.point
        assert point is not None
        if location in self.inner:
            refuse_inside(point)
        return RETURN if point.line is None else self.numbers[self.key(point)] + self.ordinal(point)

    def key(self, point: Point) -> tuple[Line, int]:
        assert point.line is not None
        return point.line, self.contexts.number(point.line, point.calls)

    def ordinal(self, point: Point) -> int:
        """Which of the events of its operation stands at a point."""
        return point.ordinal if self.operation_at(point) is not None else 0

    def kind(self, location: Location) -> str:
        return self.code.kinds[location.point.line] if location.point and location.point.line else ""

    def operation(self, location: Location) -> str | None:
        """The library's operation at a location that the runtime has in its own form."""
        return self.operation_at(location.point) if location.point else None

    def operation_at(self, point: Point) -> str | None:
        callee = self.code.callee(point.line)
        return callee if callee in OPERATIONS else None

    def is_whole_call(self, location: Location) -> bool:
        """Whether what happens is part of a call that the runtime does not know, which is one event as a whole."""
        callee = self.code.callee(location.point.line) if location.point else None
        return callee is not None and callee not in OPERATIONS

    def prints(self, transition: Transition) -> bool:
        """Whether a thread can print something between an event and its next visible one."""
        pending = [transition]
        passed: set[Location] = set()
        while pending:
            current = pending.pop()
            if current.prints:
                return True
            if current.target not in passed and current.target not in self.visible:
                passed.add(current.target)
                pending += current.target.transitions
        return False

    def add(self, key: tuple[Line, int], count: int, about: About) -> None:
        if key not in self.numbers:
            self.numbers[key] = FIRST_POINT + len(self.about)
            self.about += [About(about.place, about.what) for _ in range(count)]


def refuse_inside(point: Point) -> NoReturn:
    raise InputError(
        f"{point.source}: what '{point.function}' calls here is not done at once in this schedule, so that a native "
        "build cannot follow it; write the accesses out"
    )


def event_lines(model: Model, code: Code, *, closely: bool = False) -> set[Line]:
    return {point.line for _, point in _noticeable(model, code, closely) if point.line}


def find_points(model: Model, code: Code, contexts: Contexts, *, closely: bool = False) -> Points:
    """Number the points at which threads have events. closely: also those that only touch what never changes, so that
    threads are seen more often."""
    points = Points(code, contexts)
    unnoticed: dict[tuple[Line, int], set[Unnoticed]] = {}
    for (line, calls), why in model.unnoticed.items():
        unnoticed.setdefault((line, contexts.number(line, calls)), set()).update(why)
        if why - {"section"} or code.has_sections:
            points.sometimes.add(line)
    last: dict[tuple[Line, int], int] = {}
    noticeable = list(_noticeable(model, code, closely))
    for location, point in noticeable:
        points.visible.add(location)
        if point.line is None:
            continue
        if point.line not in code.kinds:
            raise InputError(
                f"{point.source}: '{point.function}' {point.what} here when it is checked, but not in a native build; "
                "keep what depends on __MAZURKA__ free of shared accesses"
            )
        key = points.key(point)
        if "private" in unnoticed.get(key, ()) and point.line not in code.certain:
            raise InputError(
                f"{point.source}: '{point.function}' {point.what} here, but at other times this is memory that nobody "
                "else touches; a native build cannot tell which, so use two pieces of code"
            )
        last[key] = max(last.get(key, 0), points.ordinal(point))
    points.visible |= _at_the_same_points(model, points)
    entered = {location for location in _entered(model) if location.point and location.point.ordinal == 0}
    points.inner = {location for location in points.visible - entered if points.is_whole_call(location)}
    for key in sorted(last):
        points.add(key, last[key] + 2, About())  # operations ask for a second event whether or not it is one
    for location, point in noticeable:
        if point.line is not None and location not in points.inner:
            about = points.about[points.of(location) - FIRST_POINT]
            about.place, about.what = str(point.source or point.function), point.what
            about.threads |= 1 << location.thread
            about.always |= location.may_block or points.code.callee(point.line) is not None
    for line, place in code.watched.items():
        points.add((line, 0), 2, About(place, f"calls {code.callee(line)}"))
    return points


def _entered(model: Model) -> Iterator[Location]:
    """The locations that threads come to from other lines."""
    for thread in model.threads:
        yield thread.entry
    for transition in model.transitions:
        source, target = transition.source.point, transition.target.point
        if source is None or target is None or (source.line, source.calls) != (target.line, target.calls):
            yield transition.target


def _noticeable(model: Model, code: Code, closely: bool) -> Iterator[tuple[Location, Point]]:
    """The locations at which something happens that others could notice."""
    for thread in model.threads:
        for location in thread.locations:
            point = location.point
            steps = [transition for transition in location.transitions if not transition.silent]
            if point is None or not steps:
                continue
            is_access = point.line is not None and code.kinds.get(point.line) in ACCESSES
            if any(step.accesses or step.target.rest in ("exit", "end") for step in steps) or (closely and is_access):
                yield location, point


def _at_the_same_points(model: Model, points: Points) -> set[Location]:
    """A load of what never changes is an event of the native program, too, if it is by an instruction that loads other
    things at other times."""
    places = {
        (one.thread, points.key(one.point), points.ordinal(one.point))
        for one in points.visible
        if one.point and one.point.line
    }
    return {
        location
        for thread in model.threads
        for location in thread.locations
        if location.point is not None
        and location.point.line is not None
        and not any(transition.silent for transition in location.transitions)
        and (thread.number, points.key(location.point), points.ordinal(location.point)) in places
    }
