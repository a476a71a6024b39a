"""A program schedule as the tables that the runtime follows (`runtime/schedule.h`)."""

from __future__ import annotations

import string
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mazurka.constrained.enforce.code import Line
from mazurka.constrained.enforce.ordering import Cell, Ordering, Plan, Touch, Waits, find_waits, is_word, prints
from mazurka.constrained.enforce.points import NOWHERE, Points, Spot
from mazurka.constrained.enforce.units import Knowledge, Unit, UnitEvent, continues, find_units
from mazurka.constrained.model import Location, Model
from mazurka.constrained.proof import Proof
from mazurka.frontends.c.llvm.instruction import ACCESSES
from mazurka.frontends.c.roles import operations

# As in runtime/schedule.h.
_PUBLISH, _REDIRECT, _LATE, _SETTLE, _OMIT, _CONTINUES = 1, 2, 4, 8, 16, 32

_CACHE_LINE = 64
_MOST_EVENTS = 4096  # of a thread in a unit that is repeated

_BARRIER_WAITS = operations("wait", of=["barrier"])


@dataclass(frozen=True, slots=True)
class ScheduleTables:
    """As C text. `dropped` are the lines at which the scheduler has nothing to do; a load there gives the constant.
    `awaited` are those of events that somebody waits for. `contexts` has the entries of spots at which the point
    depends on how the thread came there."""

    text: str
    dropped: Mapping[Line, int]
    awaited: Container[Line | None]
    contexts: Mapping[Spot, int]


@dataclass(eq=False, slots=True)
class _Stage:
    """A unit (None: nothing has happened yet) after another one: what its events wait for, and how to go on."""

    number: int
    unit: Unit | None
    previous: Unit | None
    waits: list[Waits] = field(default_factory=list)
    options: list[_Stage] = field(default_factory=list)


def make_tables(proof: Proof, points: Points, level: int, *, drops: bool) -> ScheduleTables:
    """drops: leave out events with which the scheduler has nothing to do, at level 2."""
    model = proof.model
    threads = len(model.threads)
    ways = find_units(proof, points, most_events=_MOST_EVENTS if level >= 2 else 0)
    first = next(iter(ways))
    units = [unit for found in ways.values() for unit in found]
    ordering = Ordering(model, units, points, level)
    plans = {unit: ordering.plan(unit) for unit in units}
    dropped = _droppable(model, ways, plans, ordering, points) if level >= 2 and drops else {}
    seen = points.without(dropped)
    for unit in units:
        _drop(unit, plans[unit], dropped)
    counts = {
        unit: [sum(event.thread == thread for event in unit.events) for thread in range(threads)] for unit in units
    }
    stages = _stages(ways, first, plans, threads)
    published = _published(stages, counts)
    area = _Area(plans.values(), threads)
    writer = _Writer(area)
    awaited: set[Line | None] = set()
    for stage in stages:
        lanes: list[list[str]] = [[] for _ in range(threads)]
        late = [False] * threads
        events = stage.unit.events if stage.unit else ()
        for number, (event, waits) in enumerate(zip(events, stage.waits, strict=True)):
            assert stage.unit is not None
            flags = _flags(event, ordering, points) | (_SETTLE if late[event.thread] else 0)
            late[event.thread] = flags & _LATE != 0
            if (stage.unit, number) in published:
                flags |= _PUBLISH
            if flags & (_PUBLISH | _LATE) and event.location.point is not None:
                awaited.add(event.location.point.line)
            cell = plans[stage.unit].cells.get(number)
            if cell is not None:
                flags |= _REDIRECT
            lane = lanes[event.thread]
            lane.append(
                f"{{{points.of(event.location)}, {flags}, {len(waits)}, {writer.waits(waits)}, "
                f"{area.offset(cell) if cell else 0}, {len(lane) + 1}}}"
            )
        nothing = [0] * threads
        known = stage.unit.end if stage.unit else first
        writer.section(
            list(_options(stage)),
            counts[stage.unit] if stage.unit else nothing,
            counts[stage.previous] if stage.previous else nothing,
            [writer.steps(lane) for lane in lanes],
            [_standing(proof, known, thread, seen) for thread in range(threads)],
        )
    contexts = {
        spot: number
        for number, spot in enumerate(
            sorted({spot for spot, _ in points.numbers if spot.line in points.contexts.lines})
        )
    }
    return ScheduleTables(writer.text(model, points, contexts), dropped, awaited, contexts)


def _droppable(
    model: Model, ways: Mapping[Knowledge, list[Unit]], plans: Mapping[Unit, Plan], ordering: Ordering, points: Points
) -> dict[Line, int]:
    """Lines whose every execution is an event of the schedule, all free and of one effect: operations that are left
    out, and loads of one constant. Where the schedule branches, threads have to be seen nevertheless."""
    found: dict[Line, set[int | None]] = {}
    followed: set[Location] = set()
    for unit, plan in plans.items():
        for number, event in enumerate(unit.events):
            followed.update(transition.source for transition in event.transitions)
            point = event.location.point
            if point is not None and point.line is not None:
                found.setdefault(point.line, set()).add(_constant_effect(event, number, plan, ordering, points))
    decisive = {point for units in ways.values() if len(units) > 1 for unit in units for point in _seen_at(unit)}
    elsewhere = [
        location
        for thread in model.threads
        for location in thread.locations
        if location not in followed or not decisive.isdisjoint(points.seen_next(location))
    ]
    for line in [*points.sometimes, *(location.point.line for location in elsewhere if location.point)]:
        if line is not None:
            found.pop(line, None)
    dropped = {line: effect for line, (effect, *others) in found.items() if effect is not None and not others}
    for unit in plans:
        _keep_one_each(unit, dropped, points)
    return dropped


def _seen_at(unit: Unit) -> tuple[int, int]:
    """The points at which its thread must be seen for it to be known that the unit is the one."""
    return unit.begin, unit.arrival


def _constant_effect(event: UnitEvent, number: int, plan: Plan, ordering: Ordering, points: Points) -> int | None:
    """What an event gives, if nobody has to wait because of it and it does nothing else."""
    if not plan.is_free(number):
        return None
    location = event.location
    if ordering.omits(event):
        is_told = points.operation(location) in _BARRIER_WAITS and (
            location.point is None or location.point.line not in points.code.unused
        )
        return None if is_told else 0
    cell = plan.cells.get(number)
    return cell.number if cell is not None and cell.thread is None else None


def _keep_one_each(unit: Unit, dropped: dict[Line, int], points: Points) -> None:
    """A thread with events in a unit keeps one of them, lest it run ahead of all others for ever."""
    by_thread: dict[int, list[Location]] = {}
    for event in unit.events:
        by_thread.setdefault(event.thread, []).append(event.location)
    for locations in by_thread.values():
        if all(_is_dropped(location, dropped) for location in locations):
            kept = min(locations, key=lambda location: points.kind(location) != "load").point
            assert kept is not None and kept.line is not None
            del dropped[kept.line]


def _drop(unit: Unit, plan: Plan, dropped: Mapping[Line, int]) -> None:
    kept = [number for number, event in enumerate(unit.events) if not _is_dropped(event.location, dropped)]
    unit.events = tuple(unit.events[number] for number in kept)
    plan.touches = [plan.touches[number] for number in kept]
    plan.cells = {new: plan.cells[old] for new, old in enumerate(kept) if old in plan.cells}


def _is_dropped(location: Location, dropped: Mapping[Line, int]) -> bool:
    return location.point is not None and location.point.line in dropped


def _standing(proof: Proof, known: Knowledge, thread: int, points: Points) -> int:
    """Where a thread is seen next; NOWHERE if that is not known."""
    locations = {proof.nodes[node].locations[thread] for node in known}
    seen = {point for location in locations for point in points.seen_next(location)}
    return seen.pop() if len(seen) == 1 else NOWHERE


# ------------------------------------------------------------------------------------------------ stages


def _stages(
    ways: Mapping[Knowledge, list[Unit]], first: Knowledge, plans: Mapping[Unit, Plan], threads: int
) -> list[_Stage]:
    stages = [_Stage(0, None, None)]
    made: dict[tuple[Unit | None, Unit], _Stage] = {}
    for stage in stages:  # which grows meanwhile
        for unit in ways[stage.unit.end if stage.unit else first]:
            if (stage.unit, unit) not in made:
                waits = find_waits(_touching(stage.unit, plans), _touching(unit, plans), threads)
                made[stage.unit, unit] = _Stage(len(stages), unit, stage.unit, waits)
                stages.append(made[stage.unit, unit])
            stage.options.append(made[stage.unit, unit])
        _join_first_waits(stage)
    return stages


def _touching(unit: Unit | None, plans: Mapping[Unit, Plan]) -> list[tuple[int, tuple[Touch, ...]]]:
    if unit is None:
        return []
    return [(event.thread, touches) for event, touches in zip(unit.events, plans[unit].touches, strict=True)]


def _join_first_waits(stage: _Stage) -> None:
    """Whichever way the event of a decision goes, it waits for what any of them waits for."""
    by_event: dict[tuple[int, int], list[_Stage]] = {}
    for option in stage.options:
        assert option.unit is not None
        if option.unit.decides:
            by_event.setdefault((option.unit.thread, option.unit.begin), []).append(option)
    for options in by_event.values():
        latest: dict[int, int] = {}
        for option in options:
            for thread, clock in option.waits[0]:
                latest[thread] = max(latest.get(thread, clock), clock)
        for option in options:
            option.waits[0] = list(latest.items())


def _published(stages: Sequence[_Stage], counts: Mapping[Unit, Sequence[int]]) -> set[tuple[Unit, int]]:
    """The events that somebody waits for: by clock, or because they are the last of their thread in a unit."""
    numbers = {unit: _by_clock(unit) for unit in counts}
    published: set[tuple[Unit, int]] = set()
    for stage in stages:
        if stage.unit is None:
            continue
        for thread, clock in (wait for waits in stage.waits for wait in waits):
            if clock > 0:
                published.add((stage.unit, numbers[stage.unit][thread, clock]))
            else:
                assert stage.previous is not None
                clock += counts[stage.previous][thread]
                published.add((stage.previous, numbers[stage.previous][thread, clock]))
        for thread, count in enumerate(counts[stage.unit]):
            if count:
                published.add((stage.unit, numbers[stage.unit][thread, count]))
    return published


def _by_clock(unit: Unit) -> dict[tuple[int, int], int]:
    counts: dict[int, int] = {}
    numbers: dict[tuple[int, int], int] = {}
    for number, event in enumerate(unit.events):
        counts[event.thread] = counts.get(event.thread, 0) + 1
        numbers[event.thread, counts[event.thread]] = number
    return numbers


def _flags(event: UnitEvent, ordering: Ordering, points: Points) -> int:
    flags = _OMIT if ordering.omits(event) else 0
    several = points.kind(event.location) in ACCESSES and sum(map(is_word, event.accesses)) > 1
    if several or prints(event, points):
        flags |= _LATE
    if points.operation(event.location) is not None and any(map(continues, event.transitions)):
        flags |= _CONTINUES
    return flags


def _options(stage: _Stage) -> Iterator[str]:
    for option in stage.options:
        unit = option.unit
        assert unit is not None
        yield f"{{{unit.thread}, {unit.begin}, {unit.arrival}, {option.number}, {int(not unit.decides)}}}"


# ------------------------------------------------------------------------------------------------ as text


class _Area:
    """Where redirected loads and stores go: constants first, then for each thread the cells that it writes, in cache
    lines of their own."""

    def __init__(self, plans: Iterable[Plan], threads: int) -> None:
        cells = {cell for plan in plans for cell in plan.cells.values()}
        self.constants = sorted({cell.number for cell in cells if cell.thread is None})
        self._positions = {value: 8 * position for position, value in enumerate(self.constants)}
        self._starts: list[int] = []
        self.size = _whole_lines(8 * len(self.constants))
        for thread in range(threads):
            self._starts.append(self.size + 8)  # after what it writes for nobody
            most = max((cell.number for cell in cells if cell.thread == thread), default=-1)
            self.size += _whole_lines(8 * (most + 2))

    def offset(self, cell: Cell) -> int:
        if cell.thread is None:
            return self._positions[cell.number]
        return self._starts[cell.thread] + 8 * cell.number


def _whole_lines(size: int) -> int:
    return -(-size // _CACHE_LINE) * _CACHE_LINE


class _Writer:
    """Collects tables, each as a list of C initialisers."""

    def __init__(self, area: _Area) -> None:
        self._area = area
        self._waits: list[str] = []
        self._steps: list[str] = ["{NOWHERE}"]  # there is one before any other
        self._options: list[str] = []
        self._numbers: list[str] = []
        self._sections: list[str] = []

    def waits(self, waits: Waits) -> int:
        self._waits += [f"{{{thread}, {clock}}}" for thread, clock in waits]
        return len(self._waits) - len(waits)

    def steps(self, steps: list[str]) -> int:
        self._steps += [*steps, "{NOWHERE}"]
        return len(self._steps) - len(steps) - 1

    def section(self, options: list[str], *by_thread: Sequence[int]) -> None:
        starts = []
        for numbers in by_thread:
            starts.append(f"numbers + {len(self._numbers)}")
            self._numbers += map(str, numbers)
        self._sections.append(f"{{{len(self._options)}, {len(options)}, {', '.join(starts)}}}")
        self._options += options

    def text(self, model: Model, points: Points, contexts: Mapping[Spot, int]) -> str:
        by_name = {thread.name: thread.number for thread in model.threads}
        names = [thread.name.rpartition(".") for thread in model.threads]
        children = [
            f"{{{by_name[parent]}, {number}, {thread}}}" for thread, (parent, dot, number) in enumerate(names) if dot
        ]
        sizes = {
            "threads": len(names),
            "sections": len(self._sections),
            "children": len(children),
            "area_size": self._area.size,
            "constants": len(self._area.constants),
            "contexts": sum(spot in contexts for spot, _ in points.numbers),
        }
        tables = {
            "static const uint32_t numbers": self._numbers,
            "const char *const mazurka_thread_names": [
                _quoted(f"{thread.name} ({thread.display})") for thread in model.threads
            ],
            "const struct child mazurka_child": children,
            "const struct point mazurka_point": [
                f"{{{_quoted(about.place)}, {_quoted(about.what)}, {about.threads}u, {int(about.always)}}}"
                for about in points.about
            ],
            "const struct step mazurka_step": self._steps,
            "const struct wait mazurka_wait": self._waits,
            "const struct option mazurka_option": self._options,
            "const struct section mazurka_section": self._sections,
            "const struct context mazurka_context_table": [
                f"{{{contexts[spot]}, {number}, {context}u}}"
                for (spot, context), number in points.numbers.items()
                if spot in contexts
            ],
            "const uint64_t mazurka_constant": [f"{value}u" for value in self._area.constants],
        }
        return "\n".join(
            [
                '#include "schedule.h"',
                *(f"const uint32_t mazurka_{name} = {size};" for name, size in sizes.items()),
                *(f"{name}[] = {{\n    " + ",\n    ".join(rows or ["0"]) + "};" for name, rows in tables.items()),
                "",
            ]
        )


def _quoted(text: str) -> str:
    """As a C string; bytes that are not plain characters are escaped."""
    plain = frozenset(string.ascii_letters + string.digits + " _-+*/.,:;()[]&<>=@'")
    return '"' + "".join(chr(c) if chr(c) in plain else f"\\{c:03o}" for c in text.encode(errors="replace")) + '"'
