"""Whether what an execution reads can be read in an interleaving: the question of sequential consistency.

The steps of an execution come in an order in which each comes after those that it reads from, but it may read what
others have overwritten by then. That alone does not tell whether this is the doing of a weak memory model: in another
order of the same steps, each may read what is the latest then. It is looked for one that keeps each thread's own order.

First, what any such order has to keep is collected: what comes before what in a thread, or by the creation of one, each
write before those that read it, and for any other write to the same place, that it does not come between the two. A
circle proves that there is no order. If there is none, it is tried to take the steps one by one, which has hardly ever
to go back then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mazurka.executions.recording import make_machine
from mazurka.executions.schedule import Reading, Schedule, Step

if TYPE_CHECKING:
    from mazurka._native import Machine
    from mazurka.machine.lowering import Lowered

# Of more steps than these nobody asks, and so many ways to take them are tried.
MOST_STEPS = 300
_MOST_TRIED = 20_000

START = -1  # in place of a step that wrote something: it was there at the start


class Unknown(Exception):
    """It takes too much effort to tell."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a step did: the step right before it in its thread, or the one that created that (`START`: none), what it
    read, with the step that wrote it, and what it wrote. Places are numbers."""

    after: int
    reads: Mapping[int, int]
    writes: frozenset[int]


def interleave(steps: Sequence[Done], last: int | None = None) -> list[int] | None:
    """An order of steps in which each reads what was written latest; with `last`, that one comes last. None: there is
    no such order. Raises `Unknown` where there may be one, but is hard to find."""
    before = _closed(_Constraints(steps, last))
    if before is None:
        return None
    return _Search(steps, before).find()


class _Constraints:
    """Which steps have to come before which: as bits of numbers, those directly before each."""

    def __init__(self, steps: Sequence[Done], last: int | None) -> None:
        self.steps = steps
        self.before = [0] * len(steps)
        self.writers: dict[int, list[int]] = {}
        for number, step in enumerate(steps):
            for source in (step.after, *step.reads.values()):
                self.add(source, number)
            for place in step.writes:
                self.writers.setdefault(place, []).append(number)
            if last is not None and number != last:
                self.add(number, last)

    def add(self, first: int, second: int) -> bool:
        """Whether that was not known."""
        if first == START or self.before[second] >> first & 1:
            return False
        self.before[second] |= 1 << first
        return True

    def overwriting(self) -> Iterator[tuple[int, int, int]]:
        """Each step that reads, with what wrote that, and each other one that writes there."""
        for reader, step in enumerate(self.steps):
            for place, source in step.reads.items():
                for other in self.writers.get(place, ()):
                    if other not in (reader, source):
                        yield reader, source, other


def _closed(constraints: _Constraints) -> list[int] | None:
    """All steps that have to come before each. None: there is a circle."""
    while True:
        before = _transitive(constraints.before)
        if any(before[number] >> number & 1 for number in range(len(before))):
            return None
        new = False
        for reader, source, other in constraints.overwriting():
            if source == START or before[other] >> source & 1:
                new |= constraints.add(reader, other)
            if source != START and before[reader] >> other & 1:
                new |= constraints.add(other, source)
        if not new:
            return before


def _transitive(direct: Sequence[int]) -> list[int]:
    before = list(direct)
    for middle in range(len(before)):
        for number in range(len(before)):
            if before[number] >> middle & 1:
                before[number] |= before[middle]
    return before


class _Search:
    """Takes steps whose time has come, and goes back where nobody can go on."""

    def __init__(self, steps: Sequence[Done], before: Sequence[int]) -> None:
        self._steps = steps
        self._before = before
        self._readers: dict[tuple[int, int], int] = {}  # of a place, and who wrote it: who reads that, as bits
        for number, step in enumerate(steps):
            for place, source in step.reads.items():
                self._readers[place, source] = self._readers.get((place, source), 0) | 1 << number

    def find(self) -> list[int] | None:
        latest: dict[int, int] = {}
        path: list[tuple[int, dict[int, int], list[int]]] = [(0, latest, self._next(0, latest))]
        order: list[int] = []
        seen: set[tuple[int, frozenset[tuple[int, int]]]] = set()
        while path:
            done, latest, ways = path[-1]
            if len(order) == len(self._steps):
                return order
            if not ways:
                path.pop()
                if order:
                    order.pop()
                continue
            number = ways.pop()
            later = latest | dict.fromkeys(self._steps[number].writes, number)
            key = done | 1 << number, frozenset(later.items())
            if key in seen:
                continue
            seen.add(key)
            if len(seen) > _MOST_TRIED:
                raise Unknown
            order.append(number)
            path.append((key[0], later, self._next(key[0], later)))
        return None

    def _next(self, done: int, latest: Mapping[int, int]) -> list[int]:
        """Which steps can be taken, the first one last."""
        return [
            number
            for number in reversed(range(len(self._steps)))
            if not done >> number & 1 and not self._before[number] & ~done and self._fits(number, done, latest)
        ]

    def _fits(self, number: int, done: int, latest: Mapping[int, int]) -> bool:
        """Whether a step reads what it has to, and overwrites nothing that others have still to read."""
        step = self._steps[number]
        waiting = ~(done | 1 << number)
        return all(latest.get(place, START) == source for place, source in step.reads.items()) and not any(
            self._readers.get((place, latest.get(place, START)), 0) & waiting for place in step.writes
        )


# ---------------------------------------------------------------------------------------------------- schedules


def as_interleaving(
    lowered: Lowered, schedule: Schedule, uninitialised: bool = True, leaks: bool = False, any_status: bool = False
) -> Schedule | None:
    """The same execution with its steps in an order in which each reads the latest writes. None: there is no such
    order. Raises `Unknown` where that cannot be told."""
    if schedule.is_interleaving:
        return schedule
    if len(schedule.steps) > MOST_STEPS:
        raise Unknown
    machine = make_machine(lowered, schedule, uninitialised, leaks, any_status, record=False)
    done = _observe(machine, schedule)
    order = interleave(done, len(done) - 1 if schedule.race or schedule.end else None)
    if order is None:
        return None
    order = [number for number in order if number < len(schedule.steps)]
    steps = tuple(Step(schedule.steps[number].thread, schedule.steps[number].choices) for number in order)
    race = schedule.race and (order.index(schedule.race[0] - 1) + 1, schedule.race[1])
    return replace(schedule, steps=steps, race=race, end=())


def _observe(machine: Machine, schedule: Schedule) -> list[Done]:
    """What each step of a schedule reads and writes, and what is at its end is read in one more step. Raises `Unknown`
    if one cannot be taken as it is: the last one of a data race may be of a thread that waits."""
    touched: list[list[tuple[range, bool, bool]]] = []  # by each step: addresses, and whether it reads and writes them
    after: list[int] = []
    latest: dict[int, int] = {}  # of each thread, its latest step, or that which created it
    for number, step in enumerate(schedule.steps):
        numbers = {machine.thread_name(thread): thread for thread in machine.threads()}
        try:
            thread = numbers[step.thread]
            accesses = machine.step(*step.told(thread))
        except (KeyError, ValueError):
            raise Unknown from None
        after.append(latest.get(thread, START))
        for created in set(machine.threads()) - set(numbers.values()):
            latest[created] = number
        latest[thread] = number
        touched.append(
            [
                (
                    range(access.address, access.address + max(access.size, 1)),
                    access.reads or access.commuting is not None,
                    access.writes,
                )
                for access in accesses
            ]
        )
    reads = [step.reads for step in schedule.steps]
    if schedule.end:
        after.append(START)
        reads.append(schedule.end)
        places = [range(read.address, read.address + read.size) for read in schedule.end]
        touched.append([(place, True, False) for place in places])
    return list(_done(reads, touched, after))


def _done(
    older_reads: Sequence[Sequence[Reading]],
    touched: Sequence[Sequence[tuple[range, bool, bool]]],
    after: Sequence[int],
) -> Iterator[Done]:
    bounds = sorted({bound for accesses in touched for where, *_ in accesses for bound in (where.start, where.stop)})
    place_at = {bound: place for place, bound in enumerate(bounds)}
    latest: dict[int, int] = {}
    for number, (reading, accesses) in enumerate(zip(older_reads, touched, strict=True)):
        older = {
            place: read.source
            for read in reading
            for place in _places(bounds, place_at, range(read.address, read.address + read.size))
        }
        reads: dict[int, int] = {}
        writes: set[int] = set()
        for where, is_read, is_written in accesses:
            for place in range(place_at[where.start], place_at[where.stop]):
                if is_read and place not in writes:
                    reads[place] = older.get(place, latest.get(place, START))
                if is_written:
                    writes.add(place)
        latest |= dict.fromkeys(writes, number)
        yield Done(after[number], reads, frozenset(writes))


def _places(bounds: Sequence[int], place_at: Mapping[int, int], where: range) -> Iterable[int]:
    """The places that are inside of some addresses."""
    return [place_at[bound] for bound in bounds[:-1] if bound in where]
