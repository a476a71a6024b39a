"""Where the order mattered: two steps of a failing execution without whose order it would not fail.

Two steps of different threads that touch the same bytes, one of them writing, could have come the other way round if
nothing else keeps the second one back. That is tried: the execution is repeated up to the first of them, then goes on
without all that comes of it, up to the second; from there on, threads are scheduled as they were, in a few other ways,
and, as far as these are not too many, in all. What threads chose they choose again where they come to the same place: a
bug that comes of a choice is not to be put down to the order. If none of these executions goes wrong, and one of them
comes to its end or goes on for long, the order of the two was needed for the bug as far as trying can tell. Of all such
pairs the last one is told.

A program with many chances to go wrong has no such pair: whatever is put right, it fails by the next one. Then the pair
is told by which it became inevitable, again as far as trying tells: after it, all ways to go on lead to a bug, and the
other way round one does not.

The steps of the execution are not all there is: where a thread fails, others may have been about to do what would have
saved it, and a thread that waits for good has tried to take a step. What others do after a failure, and what is tried
in vain, counts as further steps.

All of this is about interleavings: what reads older values than the latest is explained by these.

This is a service to the reader. It never takes long, whatever it has found by then, and changes nothing else.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from mazurka.deadline import Deadline, OutOfTime
from mazurka.executions.ending import way_on

if TYPE_CHECKING:
    from mazurka._native import Access, Machine

# Only so many steps at the end are looked at, and after a failure so many more are taken.
_WINDOW = 1000
_MORE = 100
# So many steps may be taken to find out, and a single execution goes on for so many.
_EFFORT = 100_000
_LONGEST = 2_000  # and twice as many as there were
_RANDOM_WAYS = 4
_MOST_STATES = 300
_MOST_CHOICES = 64
# No memory is kept of what touches more words than that: it is compared with everything.
_WIDE = 64
# So many of the latest accesses to a word are compared with each.
_REMEMBERED = 64

# Threads that are to take steps, in this order, and what they choose.
Way = Sequence[tuple[int, tuple[int, ...]]]
# Where a thread is: the positions in the code of its calls, the innermost first.
Where = tuple[int, ...]
# What each thread has still to choose at each place, one time after the other.
Choosing = dict[tuple[int, Where], deque[tuple[int, ...]]]
# In which order threads that are ready are asked for a step.
Preference = Callable[[list[int]], list[int]]
# How an execution ended that has come to where the machine is: "bug", "end", or None if that tells nothing.
Judge = Callable[["Machine"], str | None]


@dataclass(frozen=True, slots=True)
class Event:
    """A step that a thread takes, or tries to take; `number` is that of the step in the schedule, from 1, or higher if
    it is not part of it. `choices` has all that it chooses, and `where` says where the thread was if there are any."""

    number: int
    thread: int
    choices: tuple[int, ...]
    accesses: tuple[Access, ...]
    where: Where = ()
    tried: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """Two steps of which the `first` had to come before the `second` for things to go wrong, and an address that both
    touch. It was `needed` if nothing goes wrong the other way round; else it is the pair that made it inevitable. The
    `further` steps are those that others took after the last one of the schedule. If the two take a lock, what is
    `inside` are two steps under that lock that conflict, and so come in the same order."""

    first: Event
    second: Event
    address: int
    needed: bool
    further: tuple[Event, ...]
    inside: Pair | None = None


class _Exhausted(Exception):
    """So much effort is not worth it."""


def where_order_mattered(
    make: Callable[[], Machine],
    steps: Way,
    judge: Judge,
    deadline: Deadline,
) -> Pair | None:
    """The last pair of steps whose order was needed. `make` gives a machine at the begin, `steps` are of threads, by
    their numbers."""
    try:
        return _Search(make, steps, judge, deadline).find()
    except (_Exhausted, OutOfTime, KeyboardInterrupt, MemoryError):
        return None


class _Search:
    def __init__(
        self,
        make: Callable[[], Machine],
        steps: Way,
        judge: Judge,
        deadline: Deadline,
    ) -> None:
        self._make = make
        self._steps = steps
        self._judge = judge
        self._deadline = deadline
        self._effort = 0
        self._begin = max(0, len(steps) - _WINDOW)  # so many steps come before the first event
        self._events, self._starts = self._observe()
        self._before = _Dependences(self._events, self._starts)

    def find(self) -> Pair | None:
        return self._needed() or self._fatal()

    def _needed(self) -> Pair | None:
        """The last pair the other way round of which nothing goes wrong."""
        for second in range(len(self._events) - 1, -1, -1):
            for first in self._before.reversible(second):
                if self._outcomes(self._reversed(first, second)) == {"end"}:
                    return self._pair(first, second)
        return None

    def _fatal(self) -> Pair | None:
        """The pair by which it became inevitable that something goes wrong, but not if it were the other way round."""
        if not any(self._before.reversible(event) for event in range(len(self._events))):
            return None
        taken = [number for number, event in enumerate(self._events) if event.number <= len(self._steps)]
        fatal = bisect_left(taken, True, key=self._is_inevitable)
        if fatal == len(taken):
            return None
        pairs = [(first, fatal) for first in self._before.reversible(fatal)]
        for second in range(fatal + 1, len(self._events)):
            pairs += [(first, second) for first in self._before.reversible(second) if first == fatal]
        for first, second in pairs:
            if "end" in self._outcomes(self._reversed(first, second), all_ways=True):
                return self._pair(first, second, needed=False)
        return None

    def _is_inevitable(self, event: int) -> bool:
        """Whether something goes wrong in all ways to go on after an event."""
        if event == len(self._steps) - self._begin - 1:
            return True
        left = self._events[event + 1 :]
        return self._outcomes((self._at(self._begin + event + 1), left), all_ways=True) == {"bug"}

    def _pair(self, first: int, second: int, needed: bool = True) -> Pair:
        further = tuple(event for event in self._events if event.number > len(self._steps) and not event.tried)

        def pair(one: int, other: int, inside: Pair | None = None) -> Pair:
            where = self._before.conflicts[other][one]
            return Pair(self._events[one], self._events[other], where, needed, further, inside)

        inner = self._inside(first, second)
        return pair(first, second, pair(*inner) if inner else None)

    def _inside(self, first: int, second: int) -> tuple[int, int] | None:
        """What conflicts elsewhere, of what two threads do after two steps, up to where they touch the same again."""
        where = self._before.conflicts[second][first]

        def following(event: int) -> Iterator[int]:
            for each in range(event + 1, len(self._events)):
                if self._events[each].thread == self._events[event].thread:
                    yield each
                    if _touches(self._events[each], where):
                        return

        for later in following(second):
            for earlier in following(first):
                elsewhere = self._before.conflicts[later].get(earlier)
                if elsewhere is not None and not _touches(self._events[second], elsewhere):
                    return earlier, later
        return None

    # ---------------------------------------------------------------------------------------------- observing

    def _observe(self) -> tuple[list[Event], dict[int, int]]:
        """What each step touched, and by which event each thread was started."""
        machine = self._at(self._begin)
        events: list[Event] = []
        starts: dict[int, int] = {}
        there = set(machine.threads())

        def take(thread: int, choices: tuple[int, ...]) -> None:
            choices += (0,) * (len(machine.next(thread, choices).ranges) - len(choices))
            where = tuple(machine.frames(thread)) if choices else ()
            accesses = machine.step(thread, choices)
            number = self._begin + len(events) + 1
            starts.update(dict.fromkeys(set(machine.threads()) - there, len(events)))
            there.update(machine.threads())
            events.append(Event(number, thread, choices, tuple(accesses), where))

        for thread, choices in self._steps[self._begin :]:
            take(thread, choices)
        if machine.failed():
            for _ in range(_MORE):
                ways = ((thread, _way_on(machine, thread)) for thread in _ready(machine))
                thread, choices = next(((each, way) for each, way in ways if way is not None), (0, ()))
                if not thread:
                    break
                take(thread, choices)
        for thread in [] if machine.exited() else _ready(machine):
            ahead = machine.next(thread)
            if not ahead.enabled and ahead.waiting is not None:
                number = self._begin + len(events) + 1
                events.append(Event(number, thread, (), tuple(ahead.accesses), tried=True))
        return events, starts

    def _at(self, count: int) -> Machine:
        """A machine that has taken so many steps."""
        machine = self._make()
        for begin in range(0, count, _WINDOW):
            self._deadline.check()
            machine.follow([(*step, ()) for step in self._steps[begin : min(count, begin + _WINDOW)]])
        return machine

    # ---------------------------------------------------------------------------------------------- reversing

    def _reversed(self, first: int, second: int) -> tuple[Machine, Sequence[Event]] | None:
        """A machine that has taken the second of two steps before the first, and the steps that are left; None if that
        cannot be, or if it fails on the way."""
        moved = [each for each in range(first + 1, second) if not self._before.is_before(first, each)]
        machine = self._at(self._begin)
        for each in [*range(first), *moved, second]:
            event = self._events[each]
            if each != second and event.tried:
                continue
            if not self._take(machine, event.thread, event.choices) or machine.failed():
                return None
        taken = {*range(first), *moved, second}
        return machine, [event for each, event in enumerate(self._events) if each not in taken and not event.tried]

    def _outcomes(self, state: tuple[Machine, Sequence[Event]] | None, all_ways: bool = False) -> set[str]:
        """How it ends if the threads go on as they were, and in a few other ways: until there is a bug, or in all."""
        if state is None:
            return set()
        machine, left = state
        outcomes: set[str] = set()
        here = machine.mark()
        as_before = [event.thread for event in left]
        for way, order in [(as_before, _by_number), *(([], order) for order in _orders(machine))]:
            choosing: Choosing = defaultdict(deque)
            for event in left:
                if event.choices:
                    choosing[event.thread, event.where].append(event.choices)
            outcome = self._run(machine, way, order, choosing)
            machine.rewind(here)
            if outcome is not None:
                outcomes.add(outcome)
            if outcome == "bug" and not all_ways:
                break
        if outcomes == {"end"} and self._meets_bug(machine):
            outcomes.add("bug")
        return outcomes

    def _meets_bug(self, machine: Machine) -> bool:
        """Whether a bug is among the states that can be reached, as far as there are not too many."""
        seen = {machine.state()}
        path = [(machine.mark(), self._ways(machine))]
        while path and len(seen) < _MOST_STATES:
            here, ways = path[-1]
            machine.rewind(here)
            if not ways:
                path.pop()
            elif self._take(machine, *ways.pop()):
                if machine.failed():
                    return True
                if (state := machine.state()) not in seen:
                    seen.add(state)
                    path.append((machine.mark(), self._ways(machine)))
                    if not path[-1][1] and self._judge(machine) == "bug":
                        return True
        return False

    def _ways(self, machine: Machine) -> list[tuple[int, tuple[int, ...]]]:
        """Who can go on, and what each can choose; of many values, one."""
        ways: list[tuple[int, tuple[int, ...]]] = []
        for thread in [] if machine.exited() else _ready(machine):
            pending: list[tuple[int, ...]] = [()]
            while pending:
                choices = pending.pop()
                ahead = machine.next(thread, choices)
                if len(ahead.ranges) > len(choices) and prod(ahead.ranges) <= _MOST_CHOICES:
                    pending += [(*choices, value) for value in range(ahead.ranges[len(choices)])]
                elif ahead.enabled:
                    ways.append((thread, choices))
        return ways

    def _run(self, machine: Machine, way: Sequence[int], order: Preference, choosing: Choosing) -> str | None:
        """Let threads take steps in a way where that is possible, then whoever can first in some order."""
        preferred = iter(way)
        for _ in range(_LONGEST + 2 * len(self._events)):
            if machine.failed():
                return "bug"
            if any(self._go_on(machine, thread, choosing, stay=True) for thread in preferred):
                continue
            threads = [] if machine.exited() else _ready(machine)
            if not any(self._go_on(machine, thread, choosing) for thread in order(threads)):
                self._deadline.check()
                return self._judge(machine)
        return "end"  # it may have none: so far, so good

    def _go_on(self, machine: Machine, thread: int, choosing: Choosing, stay: bool = False) -> bool:
        """Let a thread take a step if it can, with what it is to choose, or else, unless it is to `stay` then, in any
        way that there is."""
        if machine.exited() or thread not in machine.threads() or machine.status(thread) != "ready":
            return False
        chosen = choosing[thread, tuple(machine.frames(thread))] if machine.next(thread).ranges else None
        if chosen and self._take(machine, thread, chosen[0]):
            chosen.popleft()
            return True
        choices = () if stay else _way_on(machine, thread)
        return choices is not None and self._take(machine, thread, choices)

    def _take(self, machine: Machine, thread: int, choices: tuple[int, ...]) -> bool:
        self._effort += 1
        if self._effort > _EFFORT:
            raise _Exhausted
        if self._effort % _WINDOW == 0:
            self._deadline.check()
        if machine.exited() or thread not in machine.threads() or machine.status(thread) != "ready":
            return False
        ahead = machine.next(thread, choices)
        if not ahead.enabled or len(ahead.ranges) < len(choices):
            return False
        machine.step(thread, choices)
        return True


class _Dependences:
    """Which events come before which others, whatever the schedule: those of one thread, the one that started it, and
    those that conflict."""

    def __init__(self, events: Sequence[Event], starts: dict[int, int]) -> None:
        self._starts: list[int] = []  # the event right before each in its thread, or the one that started that; -1
        self.conflicts: list[dict[int, int]] = []  # the earlier events that each conflicts with, and where
        self._events = events
        self._before: list[int] = []  # as bit masks
        last: dict[int, int] = {}
        touched: dict[int, deque[tuple[int, Access]]] = {}
        wide: list[tuple[int, Access]] = []
        for number, event in enumerate(events):
            start = last.get(event.thread, starts.get(event.thread, -1))
            conflicts: dict[int, int] = {}
            for access in event.accesses:
                words = _words(access)
                near = [entry for word in (touched if words is None else words) for entry in touched.get(word, ())]
                for other, earlier in near + wide:
                    if _conflict(earlier, access):
                        conflicts[other] = max(earlier.address, access.address)
            before = 0
            for other in {*conflicts, *([start] if start >= 0 else [])}:
                before |= self._before[other] | 1 << other
            for access in () if event.tried else event.accesses:
                words = _words(access)
                if words is None:
                    wide.append((number, access))
                for word in words or ():
                    touched.setdefault(word, deque(maxlen=_REMEMBERED)).append((number, access))
            self._starts.append(start)
            self.conflicts.append(conflicts)
            self._before.append(before)
            if not event.tried:
                last[event.thread] = number

    def is_before(self, one: int, other: int) -> bool:
        """Whether one event is the other or has to come before it; -1 is before the first one."""
        return one == other or (other >= 0 and bool(self._before[other] >> one & 1))

    def reversible(self, event: int) -> list[int]:
        """The events of other threads that conflict with an event and that nothing else keeps before it, the latest
        first. (Whether it can really come before one of them, a lock may have to say.)"""
        return [
            other
            for other in sorted(self.conflicts[event], reverse=True)
            if self._events[other].thread != self._events[event].thread
            and not self.is_before(other, self._starts[event])
        ]


def _touches(event: Event, address: int) -> bool:
    return any(access.address <= address < access.address + max(access.size, 1) for access in event.accesses)


def _words(access: Access) -> range | None:
    words = range(access.address >> 3, (access.address + max(access.size, 1) + 7) >> 3)
    return words if len(words) <= _WIDE else None


def _conflict(one: Access, other: Access) -> bool:
    overlap = one.address < other.address + max(other.size, 1) and other.address < one.address + max(one.size, 1)
    same = (one.address, one.size, one.commuting) == (other.address, other.size, other.commuting)
    return overlap and (one.writes or other.writes) and not (same and one.commuting is not None)


def _ready(machine: Machine) -> list[int]:
    return [thread for thread in machine.threads() if machine.status(thread) == "ready"]


def _way_on(machine: Machine, thread: int) -> tuple[int, ...] | None:
    """What a thread has to choose so that it can go on; among many values, only the first one of each is tried."""
    ahead = machine.next(thread)
    if ahead.enabled:
        return ()
    return way_on(machine, thread) if prod(ahead.ranges) <= _MOST_CHOICES else None


def _by_number(threads: list[int]) -> list[int]:
    return threads


def _orders(machine: Machine) -> list[Preference]:
    """One thread first, each of them, and some by chance."""

    def favouring(favourite: int) -> Preference:
        return lambda threads: sorted(threads, key=lambda thread: thread != favourite)

    def by_chance(seed: int) -> Preference:
        dice = random.Random(seed)
        return lambda threads: dice.sample(threads, len(threads))

    return [*map(favouring, machine.threads()), *map(by_chance, range(_RANDOM_WAYS))]
