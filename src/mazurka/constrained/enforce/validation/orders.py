"""That all orders of the events which the waits permit are equivalent to the one that was found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from mazurka.constrained.enforce.validation.context import Check, Context
from mazurka.constrained.enforce.validation.places import call_of
from mazurka.constrained.enforce.validation.walks import Walk, WalkEvent, Walks
from mazurka.constrained.model import StateVariable, Transition

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


class Orders(Check):
    def __init__(self, context: Context, walks: Walks) -> None:
        super().__init__(context)
        self._walks = walks
        self._ignored: frozenset[StateVariable] = frozenset()

    def check(self) -> None:
        self._left_out()
        if not self._context.found:
            self._orders()

    def _left_out(self) -> None:
        """That nobody looks at what operations would change that are left out."""
        kept: set[StateVariable] = set()
        left_out: dict[Transition, bool] = dict.fromkeys(self._walks.left_out_unseen, True)
        for event in {
            (event.move, event.flags & self._omit): event for walk in self._walks.all for event in walk.events
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

    def _always(self, event: WalkEvent) -> None:
        """That the runtime takes an event for one, and knows how its operation goes on."""
        point = event.step.point
        where = self._native.place(event.move.location)
        for number, transition in event.move.steps:
            here, there = transition.source.point, transition.target.point
            alone = all(location.rest == "unborn" for location in self._nodes[number].locations[1:])
            operation = here.operation if here else None
            is_seen = point < self._first_point or self._tables.points[point - self._first_point].always
            if alone and not is_seen and operation != "pthread_create":
                self._say(f"{where} happens while the first thread is alone, when the scheduler does not see it")
            if operation == "pthread_barrier_wait" and here is not None and here.ordinal == 0:
                continues = (
                    there is not None
                    and call_of(transition.source) == call_of(transition.target)
                    and there.ordinal == here.ordinal + 1
                )
                if continues != bool(event.flags & self._continues):
                    self._say(f"{where}: whether it is the last thread at the barrier is not as the schedule has it")

    def _orders(self) -> None:
        """That all orders which the waits permit are equivalent to the one that was found."""
        summaries: dict[Walk, _Replay] = {}
        for walk in self._walks.all:
            befores: list[Walk | None] = list(walk.source.before)
            if walk.source.stage == 0 and walk.source.number == 0:
                befores.append(None)
            for before in befores:
                if before is not None and before not in summaries:
                    summaries[before] = self._replay(before, None, None)
                self._replay(walk, before, summaries[before] if before is not None else None, report=True)
            self._publication(walk)
            if len(self._context.found) > 20:
                return

    def _replay(self, walk: Walk, before: Walk | None, summary: _Replay | None, *, report: bool = False) -> _Replay:
        """Go through the events of a stage, after those of the stage before it, with what each thread knows to have
        happened."""
        counts = self._stage(before.stage).events if before is not None else (0,) * self._tables.threads
        replay = _Replay.after(summary, counts) if summary is not None else _Replay.new(self._tables.threads)
        for position, event in enumerate(walk.events):
            known = replay.known[event.thread]
            for other, clock in event.step.waits:
                if clock > 0:
                    told = walk.flags_of(other, clock)
                elif before is not None and clock + counts[other] > 0:
                    told = before.flags_of(other, clock + counts[other])
                else:
                    continue  # that is over anyway
                if report and (told is None or not told & (self._publish | self._late)):
                    self._say(
                        f"section {walk.stage}: {self._native.at(event.thread, event.step.point)} waits for an event "
                        f"of {self._name(other)} of which it is not told"
                    )
                if known[other] >= clock:
                    continue  # and so is all that was known then
                if clock > 0:
                    known[:] = map(max, known, replay.seen[other, clock])
                elif summary is not None:
                    seen = summary.seen[other, clock + counts[other]]
                    known[:] = map(max, known, (then - count for then, count in zip(seen, counts, strict=True)))
            known[event.thread] = event.clock
            for conflict in replay.take(event, self._touches(event)):
                if report:
                    self._say_unordered(walk, event, conflict)
            if position == 0 and walk.decides:
                for others in replay.known:
                    others[:] = map(max, others, known)
        return replay

    def _touches(self, event: WalkEvent) -> Iterator[tuple[object, int | None, bool]]:
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

    def _say_unordered(self, walk: Walk, event: WalkEvent, conflict: _Conflict) -> None:
        word = conflict.word
        if isinstance(word, StateVariable):
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

    def _publication(self, walk: Walk) -> None:
        """That others learn of what they wait for when it is over."""
        events = self._stage(walk.stage).events
        goes_on = walk.target is not None and bool(walk.target.after)
        for event in walk.events:
            where = f"section {walk.stage}: {self._native.at(event.thread, event.step.point)}"
            is_late = event.flags & self._late != 0
            told = is_late or event.flags & self._publish
            if goes_on and not told and event.clock == events[event.thread]:
                self._say(f"{where} is the last of its thread in the section, but nobody is told when it is over")
            if (event.move.prints or event.move.goes_on) and told and not is_late:
                self._say(f"{where} goes on after its instruction, but others are told that it is over")
            if is_late and not (walk.decides and event is walk.events[0]):
                self._late_event(event, where, goes_on)

    def _late_event(self, event: WalkEvent, where: str, goes_on: bool) -> None:
        if event.move.ends:
            self._say(f"{where} ends its thread, so that nobody is told that it is over")
        elif goes_on and any(self._native.ahead(step.target).endless for _, step in event.move.steps):
            self._say(
                f"{where} may go round a loop for ever before others are told that it is over; let the loop have an "
                "end, or do something in it that others can see"
            )


@dataclass(frozen=True, slots=True)
class _Conflict:
    """An event that should have been waited for, and what both touch."""

    event: WalkEvent
    word: object


@dataclass(slots=True)
class _Touched:
    """Who has written a word last, and who has read it since: by thread, their clocks and events."""

    writer: tuple[int, int, WalkEvent] | None = None
    readers: dict[int, tuple[int, WalkEvent]] = field(default_factory=dict)


@dataclass(slots=True)
class _Replay:
    """What has happened so far, seen by each thread. known: the clocks of all that a thread knows. seen: what a thread
    knew after an event. latest: each thread's last event."""

    known: list[list[int]]
    seen: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    words: dict[object, dict[int | None, _Touched]] = field(default_factory=dict)
    latest: dict[int, tuple[int, WalkEvent]] = field(default_factory=dict)
    ended: tuple[int, int, WalkEvent] | None = None

    @classmethod
    def new(cls, threads: int) -> _Replay:
        return cls([[0] * threads for _ in range(threads)])

    @classmethod
    def after(cls, other: _Replay, counts: Sequence[int]) -> _Replay:
        """The same at the end of a stage with so many events, which clocks no longer count. Cells are others now."""
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

    def take(self, event: WalkEvent, touches: Iterable[tuple[object, int | None, bool]]) -> Iterator[_Conflict]:
        """The next event: those that it should know of, but does not."""
        thread, clock = event.thread, event.clock
        known = self.known[thread]
        conflicts: list[_Conflict] = []
        if self.ended is not None and known[self.ended[0]] < self.ended[1]:
            conflicts.append(_Conflict(self.ended[2], "process"))
        if event.move.exited:
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


def _earlier(one: tuple[int, int, WalkEvent], counts: Sequence[int]) -> tuple[int, int, WalkEvent]:
    thread, clock, event = one
    return thread, clock - counts[thread], event
