"""Sections as a native program can follow them.

A thread that has had the last visible event before a branch tells which way it went by where it arrives next. So
sections are joined until each *unit* begins with a visible event, or with the arrival of a thread that is on its way. A
unit that is followed by nothing but itself can be repeated: longer units need fewer meetings of the threads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from mazurka.enforcement.points import Points, refuse_inside
from mazurka.engines.abstract.model import Location, dependent
from mazurka.errors import InputError
from mazurka.schedules.sections import Event, ProgramSchedule, Section


class Unfollowable(InputError):
    """Where a thread is cannot be told from what the native program shows of it."""


@dataclass(eq=False, slots=True)
class Unit:
    """From the node `start` to the node `end`. `thread` either has its event at `begin` and arrives at `arrival` after
    it, or is on its way (`begin` is None) and arrives there; None: it comes to rest. `decides`: the event can also go
    another way, so that the unit is known only when the thread arrives. `repeated`: it is several rounds."""

    start: int
    thread: int
    begin: Location | None
    arrival: Location | None
    events: tuple[Event, ...]
    end: int
    decides: bool = False
    repeated: bool = False


def find_units(schedule: ProgramSchedule, points: Points, *, most_events: int = 0) -> dict[int, list[Unit]]:
    """For each node between units, the ways to go on. A unit is repeated as long as no thread has more than
    `most_events` in it."""
    found: dict[int, list[Unit]] = {}
    pending = [0]
    while pending:
        node = pending.pop()
        if node not in found:
            found[node] = _units_at(schedule, points, node)
            pending.extend(unit.end for unit in found[node])
    for node, units in found.items():
        for unit in units:
            unit.decides = unit.begin is not None and sum(other.thread == unit.thread for other in units) > 1
        if len(units) == 1 and units[0].end == node and units[0].events:
            longest = max(Counter(event.thread for event in units[0].events).values())
            times = max(1, most_events // longest)
            units[0].events *= times
            units[0].repeated = times > 1
    return found


def _units_at(schedule: ProgramSchedule, points: Points, node: int) -> list[Unit]:
    """Where several threads may go first, those are left out that cannot be followed: any of them will do."""
    sections = schedule.sections_at(node)
    by_thread: dict[int, list[Section]] = {}
    for section in sections:
        by_thread.setdefault(section.thread, []).append(section)
    found: list[Unit] = []
    refused: InputError | None = None
    for own in by_thread.values():
        try:
            found += _units_of(schedule, points, own, len(sections) > 1)
        except InputError as error:
            refused = error
    if refused is not None and not found:
        alone = next((own for own in by_thread.values() if len(own) == 1), None)
        if alone is None:
            raise refused
        found = _units_of(schedule, points, alone, False)
    return found


def _units_of(schedule: ProgramSchedule, points: Points, sections: Sequence[Section], is_decision: bool) -> list[Unit]:
    """The sections of one thread that begin at a node. Without a decision, it does not matter where it arrives."""
    units: list[Unit] = []
    for section in sections:
        first = section.transition.source
        begin = first if first in points.visible else None
        paths: Iterable[tuple[list[Section], Location | None]] = [([section], None)]
        if is_decision:
            paths = _paths(schedule, points, section, {section.start} if begin is None else set())
        for path, arrival in paths:
            events = [event for part in path for event in part.events if event.transition.source in points.visible]
            unit = Unit(section.start, section.thread, begin, arrival, _with_whole_calls(events, points), path[-1].end)
            if not any(_is_same(unit, other, points) for other in units):
                units.append(unit)
    return units


def _is_same(one: Unit, other: Unit, points: Points) -> bool:
    """Whether two ways differ in nothing that the native program has."""
    return (one.begin, one.arrival, one.end, len(one.events)) == (
        other.begin, other.arrival, other.end, len(other.events)
    ) and all(
        (first.transition.source, first.transition.accesses, first.indices, first.values)
        == (second.transition.source, second.transition.accesses, second.indices, second.values)
        and points.prints(first.transition) == points.prints(second.transition)
        for first, second in zip(one.events, other.events, strict=True)
    )  # fmt: skip


def _with_whole_calls(events: Iterable[Event], points: Points) -> tuple[Event, ...]:
    """The events of a call that is one event as a whole, as one."""
    result: list[Event] = []
    latest: dict[int, int] = {}  # by thread: where its last event is in the result
    for event in events:
        at = latest.get(event.thread)
        if event.transition.source not in points.inner:
            latest[event.thread] = len(result)
            result.append(event)
        elif at is None or not _is_same_call(result[at], event) or _conflicts(event, result[at + 1 :]):
            assert event.transition.source.point is not None
            refuse_inside(event.transition.source.point)
        else:
            result[at] = _joined(result[at], event)
    return tuple(result)


def _is_same_call(one: Event, other: Event) -> bool:
    first, second = one.transition.source.point, other.transition.source.point
    return first is not None and second is not None and (first.line, first.calls) == (second.line, second.calls)


def _conflicts(event: Event, others: Sequence[Event]) -> bool:
    return any(other.thread != event.thread and dependent(event.transition, other.transition) for other in others)


def _joined(one: Event, other: Event) -> Event:
    joined = replace(
        one.transition, target=other.transition.target, accesses=one.transition.accesses + other.transition.accesses
    )
    return replace(one, transition=joined, values={}, indices=one.indices + other.indices)


def _paths(
    schedule: ProgramSchedule, points: Points, section: Section, passed: set[int]
) -> Iterator[tuple[list[Section], Location | None]]:
    """The section, followed by others for as long as it is not known where its thread arrives."""
    target = section.transition.target
    for event in section.events[1:]:
        if event.thread == section.thread:
            if event.transition.source in points.visible:
                break
            target = event.transition.target
    if target.rest is not None or target in points.visible:
        yield [section], None if target.rest is not None else target
        return
    following = schedule.sections_at(section.end)
    if any(other.thread != section.thread for other in following):
        refuse(section.transition.source)
    if section.end not in passed:  # otherwise it is one more round of a local loop
        for other in following:
            for path, arrival in _paths(schedule, points, other, passed | {section.end}):
                yield [section, *path], arrival


def refuse(location: Location | None) -> NoReturn:
    place = location.point.source if location and location.point else "the program"
    raise Unfollowable(
        f"{place}: which way a thread goes on from here cannot be told from where it arrives next, so that a native "
        "build cannot follow this schedule; let the two ways begin with different accesses"
    )
