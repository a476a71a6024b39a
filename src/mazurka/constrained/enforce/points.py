"""Where the events of a model are in the native program.

*Visible* events are those that the native program has as well: where a thread is can be told by its next one. First of
all these are events that others could notice. What only concerns the thread itself (a choice of an input, a round of a
local loop) has no event in the native program, but the schedule may give others their turn between two of them. So a
call is put where it happens, and makes it visible, wherever a thread could go round without being seen at all; and, if
that does not suffice, wherever there is a place for it (`closely`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn

from mazurka.constrained.enforce.code import Code, Line
from mazurka.constrained.enforce.contexts import Contexts
from mazurka.constrained.model import Location, Model, Point, Transition
from mazurka.errors import InputError
from mazurka.frontends.c.llvm.instruction import ACCESSES
from mazurka.frontends.c.roles import SCHEDULED

# As in runtime/schedule.h.
NOWHERE, RETURN, FIRST_POINT = 0, 1, 2


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """A line of the program as it is checked: an instruction that is an event, or right before which something happens
    that concerns only the thread itself (`passing`)."""

    line: Line
    passing: bool = False


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
    """The points of the native program. `numbers` are those of the first event of each spot in each context; further
    events of the same call have the next numbers. `visible` are the locations whose events the native program has, too;
    `inner` those inside of calls that are one event as a whole; `passed` the spots of visible locations that only
    concern their thread, with the calls that lead there. `sometimes` are lines that are also executed when they
    are no event."""

    code: Code
    contexts: Contexts
    passed: Mapping[Location, tuple[Spot, tuple[Line, ...]]]
    sometimes: set[Line] = field(default_factory=set)
    visible: set[Location] = field(default_factory=set)
    inner: set[Location] = field(default_factory=set)
    numbers: dict[tuple[Spot, int], int] = field(default_factory=dict)
    about: list[About] = field(default_factory=list)  # from FIRST_POINT on
    _seen_next: dict[Location, frozenset[int]] = field(default_factory=dict)

    def of(self, location: Location) -> int:
        """The point of a visible location that is not inside of a call."""
        point = location.point
        assert point is not None and location not in self.inner
        if location in self.passed:
            return self.numbers[self.key(location)]
        return RETURN if point.line is None else self.numbers[self.key(location)] + self.ordinal(point)

    def key(self, location: Location) -> tuple[Spot, int]:
        point = location.point
        assert point is not None
        if location in self.passed:
            spot, calls = self.passed[location]
        else:
            assert point.line is not None
            spot, calls = Spot(point.line), point.calls
        return spot, self.contexts.number(spot.line, calls)

    def ordinal(self, point: Point) -> int:
        """Which of the events of its operation stands at a point."""
        return point.ordinal if self.operation_at(point) is not None else 0

    def kind(self, location: Location) -> str:
        """The instruction that is the event at a location."""
        if location.point is None or location.point.line is None or location in self.passed:
            return ""
        return self.code.kinds[location.point.line]

    def operation(self, location: Location) -> str | None:
        """The library's operation at a location that the runtime has in its own form."""
        return self.operation_at(location.point) if location.point and location not in self.passed else None

    def operation_at(self, point: Point) -> str | None:
        callee = self.code.callee(point.line)
        return callee if callee in SCHEDULED else None

    def is_call(self, location: Location) -> bool:
        return location.point is not None and self.code.callee(location.point.line) is not None

    def is_whole_call(self, location: Location) -> bool:
        """Whether what happens is part of a call that the runtime does not know, which is one event as a whole."""
        callee = self.code.callee(location.point.line) if location.point else None
        return callee is not None and callee not in SCHEDULED

    def seen_next(self, location: Location) -> frozenset[int]:
        """The points at which a thread that is at a location can be seen next; NOWHERE: it may come to rest before."""
        known = self._seen_next.get(location)
        if known is None:
            reached = {location}
            pending = [location]
            found = set()
            while pending:
                current = pending.pop()
                if current.rest is not None:
                    found.add(NOWHERE)
                elif current in self.visible and current not in self.inner:
                    found.add(self.of(current))
                else:
                    new = {transition.target for transition in current.transitions} - reached
                    reached |= new
                    pending += new
            known = self._seen_next[location] = frozenset(found)
        return known

    def without(self, lines: Container[Line]) -> Points:
        """The points of a program at whose lines the scheduler has nothing to do."""
        hidden = {location for location in self.visible if location.point is not None and location.point.line in lines}
        return replace(self, visible=self.visible - hidden, _seen_next={})

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

    def add(self, key: tuple[Spot, int], count: int, about: About) -> None:
        if key not in self.numbers:
            self.numbers[key] = FIRST_POINT + len(self.about)
            self.about += [About(about.place, about.what) for _ in range(count)]


def refuse_inside(location: Location) -> NoReturn:
    assert location.point is not None
    raise InputError(
        f"{location.point.source}: what '{location.point.function}' calls here is not done at once in this schedule, "
        "so that a native build cannot follow it; write the accesses out"
    )


def find_passed(model: Model, code: Code, *, closely: bool) -> dict[Location, tuple[Spot, tuple[Line, ...]]]:
    """The locations that only concern their thread and are made visible nevertheless: where they are, and the calls
    that lead there."""
    passing = {
        location
        for thread in model.threads
        for location in thread.locations
        if location.transitions and not any(_is_noticed(transition) for transition in location.transitions)
    }
    needed = passing if closely else _gone_round(passing)
    places = _Places(model, code)
    found: dict[Location, tuple[Spot, tuple[Line, ...]]] = {}
    for location in sorted(needed, key=lambda each: (each.thread, each.number)):
        place = None if _ends(location) else places.of(location)
        if place is not None:
            found[location] = (Spot(place[0], passing=True), place[1])
    unseen = _gone_round(passing - found.keys())
    for location in unseen:
        if location.point is not None and not _is_access(location, code):
            raise InputError(
                f"{location.point.source}: a native build cannot see when '{location.point.function}' goes round here; "
                "let what depends on __MAZURKA__ be in a function that is called in the loop"
            )
    return found


def _is_noticed(transition: Transition) -> bool:
    return bool(transition.accesses) or transition.target.rest in ("exit", "end", "return")


def _is_access(location: Location, code: Code) -> bool:
    """Whether it is an access, if only to what never changes."""
    point = location.point
    silent = location.is_silent
    return not silent and point is not None and point.line is not None and code.kinds.get(point.line) in ACCESSES


def _gone_round(passing: set[Location]) -> set[Location]:
    """The locations at which a thread can be again and again without ever being at others, except in loops that end."""
    return {location for location in passing if not _ends(location) and location in _reached(location, passing)}


def _ends(location: Location) -> bool:
    """Whether what a thread does there on its own, round by round, ends natively: the library's loops do."""
    if not location.is_silent:
        return False
    return location.ends or (location.point is not None and location.point.operation is not None)


def _reached(start: Location, among: set[Location]) -> set[Location]:
    reached: set[Location] = set()
    pending = [start]
    while pending:
        for transition in pending.pop().transitions:
            if transition.target in among and transition.target not in reached:
                reached.add(transition.target)
                pending.append(transition.target)
    return reached


class _Places:
    """Where a call can be put into the native program right when a thread is at a location."""

    def __init__(self, model: Model, code: Code) -> None:
        self._code = code
        self._eventful = {
            location.point.line for thread in model.threads for location in thread.locations if location.point
        }
        self._noticed = {
            (source.point.line, source.point.calls)
            for transition in model.transitions
            if (source := transition.source).point is not None and _is_noticed(transition)
        }
        self._taken: dict[Line, Line] = {}
        self._before: dict[Location, list[Location]] = {}
        for transition in model.transitions:
            self._before.setdefault(transition.target, []).append(transition.source)

    def of(self, location: Location) -> tuple[Line, tuple[Line, ...]] | None:
        """The line of an instruction and the calls that lead there. The native program may lack the one that is
        checked: then another one of the same block, or the call of the function that it is in."""
        point = location.point
        if point is None or point.line is None or _is_access(location, self._code):
            return None
        callee = self._code.callee(point.line)
        if callee in SCHEDULED or (callee is not None and (point.line, point.calls) in self._noticed):
            return None  # it has points of its own, or is one event as a whole
        silent = location.is_silent
        if point.operation is not None and (silent or point.ordinal != 0 or not self._is_begin(location, point)):
            return None  # somewhere inside of the library
        near = [point.line, *self._near(point.line)]
        line = next((each for each in near if self._is_there(each, point.line)), None)
        if line is not None:
            self._taken[line] = point.line
            return line, point.calls
        if point.calls and not silent and self._is_first(location):
            call = point.calls[-1]
            if self._is_there(call, call):
                self._taken[call] = call
                return call, point.calls[:-1]
        return None

    def _is_there(self, line: Line, wanted: Line) -> bool:
        """Whether the native program has an instruction, and no other location was moved to it."""
        return line in self._code.kinds and self._code.kinds[line] != "phi" and self._taken.get(line, wanted) == wanted

    def _near(self, line: Line) -> Iterator[Line]:
        """The lines of a block around one, up to those at which something else happens."""
        file, number = line
        block = self._code.blocks.get(line, range(0))
        for numbers in (range(number + 1, block.stop), range(number - 1, block.start - 1, -1)):
            for other in numbers:
                if (file, other) in self._eventful:
                    break
                yield file, other

    def _is_begin(self, location: Location, point: Point) -> bool:
        """Whether threads come here only when a function of the library is called: from other lines, or it does nothing
        but choose."""
        return (point.operation or "").startswith("__VERIFIER_nondet") or all(
            source.point is None or (source.point.line, source.point.calls) != (point.line, point.calls)
            for source in self._before.get(location, ())
        )

    def _is_first(self, location: Location) -> bool:
        """Whether it is the first thing that happens in the call that it is in."""
        assert location.point is not None
        calls = location.point.calls
        return all(
            source.point is None or source.point.calls[: len(calls)] != calls
            for source in self._before.get(location, ())
        )


def event_lines(
    model: Model, code: Code, passed: Mapping[Location, tuple[Spot, tuple[Line, ...]]], *, closely: bool = False
) -> set[Line]:
    lines = {point.line for _, point in _noticeable(model, code, closely) if point.line}
    return lines | {spot.line for spot, _ in passed.values()}


def find_points(
    model: Model,
    code: Code,
    contexts: Contexts,
    passed: Mapping[Location, tuple[Spot, tuple[Line, ...]]],
    *,
    closely: bool = False,
) -> Points:
    """Number the points at which threads have events. closely: also those that only touch what never changes, so that
    threads are seen more often."""
    points = Points(code, contexts, passed)
    for (line, _), why in model.unnoticed.items():
        if why - {"section"} or code.has_sections:
            points.sometimes.add(line)
    last = _last_ordinals(model, points, closely)
    points.visible |= _at_the_same_points(model, points)
    _join_calls(model, points)
    points.visible |= passed.keys()
    for location in points.visible - points.inner - passed.keys():
        if location.point is not None and location.point.line is not None:
            last.setdefault(points.key(location), 0)
    for key in sorted(last):
        points.add(key, last[key] + 2, About())  # operations ask for a second event whether or not it is one
    for location in passed:
        points.add(points.key(location), 1, About())
    _describe(points)
    for line, place in code.watched.items():
        points.add((Spot(line), 0), 2, About(place, f"calls {code.callee(line)}"))
    return points


def _last_ordinals(model: Model, points: Points, closely: bool) -> dict[tuple[Spot, int], int]:
    """Make what can be noticed visible. Of each spot and context where that is, which of the events of an operation
    comes last."""
    code = points.code
    number = points.contexts.number
    private = {(Spot(line), number(line, calls)) for (line, calls), why in model.unnoticed.items() if "private" in why}
    last: dict[tuple[Spot, int], int] = {}
    for location, point in _noticeable(model, code, closely):
        points.visible.add(location)
        if point.line is None:
            continue
        if point.line not in code.kinds:
            raise InputError(
                f"{point.source}: '{point.function}' {point.what} here when it is checked, but not in a native build; "
                "keep what depends on __MAZURKA__ free of shared accesses"
            )
        key = points.key(location)
        if key in private and point.line not in code.certain:
            raise InputError(
                f"{point.source}: '{point.function}' {point.what} here, but at other times this is memory that nobody "
                "else touches; a native build cannot tell which, so use two pieces of code"
            )
        last[key] = max(last.get(key, 0), points.ordinal(point))
    return last


def _describe(points: Points) -> None:
    """Say of each point what happens there, and which threads come there."""
    always = {location for location in points.visible if location.may_block or points.is_call(location)}
    for location in sorted(points.visible - points.inner, key=lambda each: (each.thread, each.number)):
        number = points.of(location)
        if location.point is not None and number >= FIRST_POINT:
            about = points.about[number - FIRST_POINT]
            about.place = str(location.point.source or location.point.function)
            about.what = location.point.what
            about.threads |= 1 << location.thread
            about.always |= location in always or location in points.passed


def _join_calls(model: Model, points: Points) -> None:
    """A call that the runtime does not know is one event as a whole, if anything in it is one: that at which it begins.
    All others are inside, whatever they touch."""
    calls: dict[tuple[int, Line, tuple[Line, ...]], list[Location]] = {}
    for thread in model.threads:
        for location in thread.locations:
            point = location.point
            if point is None or point.line is None or not points.is_whole_call(location):
                continue
            if location.rest is None and location not in points.passed and not location.is_silent:
                calls.setdefault((thread.number, point.line, point.calls), []).append(location)
    entered = {transition.target for transition in model.transitions if not _is_inside(transition)}
    entered.update(thread.entry for thread in model.threads)
    for locations in calls.values():
        if points.visible.isdisjoint(locations):
            continue
        first = {each for each in locations if each in entered and each.point and each.point.ordinal == 0}
        points.visible.update(locations)
        points.inner.update(location for location in locations if location not in first)
        for transition in (transition for location in locations for transition in location.transitions):
            if transition.target in first and _is_inside(transition):
                refuse_inside(transition.target)  # a loop of the library, or one around the call: who knows


def _is_inside(transition: Transition) -> bool:
    """Whether a transition leads from one event of a line to another."""
    source, target = transition.source.point, transition.target.point
    return source is not None and target is not None and (source.line, source.calls) == (target.line, target.calls)


def _noticeable(model: Model, code: Code, closely: bool) -> Iterator[tuple[Location, Point]]:
    """The locations at which something happens that others could notice, or where a thread may have to wait."""
    for thread in model.threads:
        for location in thread.locations:
            point = location.point
            if point is None or location.rest is not None:
                continue
            steps = [transition for transition in location.transitions if not transition.silent]
            waits = bool(steps) and location.may_block
            is_seen = any(map(_is_noticed, steps)) or waits or not location.transitions
            if is_seen or (closely and _is_access(location, code)):
                yield location, point


def _at_the_same_points(model: Model, points: Points) -> set[Location]:
    """A load of what never changes is an event of the native program, too, if it is by an instruction that loads other
    things at other times."""
    places = set(_places(points.visible, points))
    return {
        location
        for thread in model.threads
        for location in thread.locations
        if location.rest is None
        and location not in points.passed
        and not location.is_silent
        and not places.isdisjoint(_places([location], points))
    }


def _places(locations: Iterable[Location], points: Points) -> Iterator[tuple[int, tuple[Spot, int], int]]:
    for location in locations:
        if location.point is not None and location.point.line is not None:
            yield location.thread, points.key(location), points.ordinal(location.point)
