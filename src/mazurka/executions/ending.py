"""How an execution ended: what went wrong, who cannot go on and why, and what that means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mazurka.executions.faults import explain
from mazurka.executions.naming import Names
from mazurka.executions.positions import Source
from mazurka.executions.trace import Reading, Wait
from mazurka.program.instructions import Assume, Await, Fail
from mazurka.result import Bug, Limit, Loop

if TYPE_CHECKING:
    from mazurka._native import Access, Failure, Machine, Operation, Waiting


@dataclass(frozen=True, slots=True)
class Remark:
    """What went wrong, for a trace: who did it, where, and what it was."""

    thread: int
    frames: Sequence[int]
    message: str


@dataclass(frozen=True, slots=True)
class End:
    """`bug` is what the execution shows, if anything, and `remark` where in the trace that is. The execution is not
    `ended` if threads could still go on. It is `blocked` if it ended because of an assumption, or of a loop that would
    only go round again, `bounded` if it did because of the bound on a loop, and otherwise `assumed` if because of an
    assumption. `limit` is what the program needs more of than there is, which is no bug: nobody can say that it is
    wrong. `left` are the threads that still wait although `main` has returned. `waiting` and `cycle` are as in a
    trace."""

    bug: Bug | None = None
    remark: Remark | None = None
    ended: bool = True
    blocked: bool = False
    bounded: bool = False
    assumed: bool = False
    limit: Limit | None = None
    left: tuple[Wait, ...] = ()
    waiting: tuple[Wait, ...] = ()
    cycle: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Stay:
    """A thread that cannot go on, the instruction that it is at, and why: it waits for a "resource"; it would go round
    a loop again, to no end ("spin") or so as to leave it ("loop"), which happens in another execution; the "program"
    assumes that this does not happen; the "bound" of a loop is reached."""

    thread: int
    pc: int
    why: str
    guard: Waiting | None = None


class Teller:
    """Says what it means that an execution has come to where a machine is."""

    def __init__(self, machine: Machine, source: Source, names: Names) -> None:
        self._machine = machine
        self._source = source
        self._names = names

    def failed(self, failure: Failure, operations: Sequence[Operation], can_unroll: bool) -> End:
        """A run-time error has ended it."""
        message = explain(failure, self._source, self._names)
        remark = Remark(failure.thread, failure.frames, message)
        if not failure.limit:
            # Where a block was made that is lost, or is thrown as an exception; where `main` returned, and not where
            # the process ends after that.
            blamed, made = remark, None
            instruction = self._source.instruction(failure.frames[0])
            if failure.fault == "leaked":
                made = self._names.life(self._names.object(failure.address))[0]
            elif isinstance(instruction, Fail) and instruction.cause is not None and failure.size:
                made = self._names.life(self._names.object(failure.size))[0]
            elif failure.kind == "exit" and self._where(remark)[0] is None:
                made = next((each for each in reversed(operations) if each.kind == "return"), None)
            if made is not None:
                blamed = Remark(made.thread, made.frames, message)
            return End(Bug(failure.kind, message, *self._where(blamed)), remark)
        loop, remedy = None, ""
        if failure.fault == "too_many_instructions":
            loop = self._source.loop(failure.frames)
            remedy = "; if it does end, check the program with less to do in one step"
            remedy += ", else bound the loop with --unroll" if loop and can_unroll else ""
        return self._limited(failure.fault, remark, loop, remedy)

    def stuck(self, allow_livelock: bool) -> End | None:
        """Nobody can go on; or none of those who wait for each other can, whatever the others do, for ever perhaps."""
        machine = self._machine
        if not machine.exited() and any(way_on(machine, thread) is not None for thread in machine.threads()):
            if circle := self._circle():
                names = tuple(wait.thread for wait in circle)
                return End(_deadlock(circle, names), ended=False, waiting=circle, cycle=names)
            spinning = () if allow_livelock else self._spinning()
            return End(_livelock(spinning), ended=False, waiting=spinning) if spinning else None
        stays = self._stays()
        waiting = tuple(wait for stay in stays if (wait := self._wait(stay)))
        cycle = _cycle(waiting)
        returned = machine.status(machine.threads()[0]) == "returned"
        blocked, bounded, assumed, ending = self._judge(stays, returned, allow_livelock)
        bug = _deadlock(waiting, cycle) if ending == "deadlock" else _livelock(waiting) if ending else None
        end = End(bug, blocked=blocked, bounded=bounded, assumed=assumed, waiting=waiting, cycle=cycle)
        if not returned or bug is not None:
            return end
        return replace(end, left=tuple(wait for stay in stays if stay.why != "program" and (wait := self._wait(stay))))

    def endless(self, operations: Sequence[Operation], limit: int, *, weak: bool = False) -> End:
        """It has not ended in as many steps as it may have. Who did most is to blame, and the loop that it was in last:
        the execution may have ended but for a few steps. `weak`: the engine for programs that do not end knows only
        some of its executions."""
        thread, _ = Counter(operation.thread for operation in operations).most_common(1)[0]
        places = dict.fromkeys(tuple(at.frames) for at in reversed(operations) if at.thread == thread)
        latest = next(iter(places))
        if self._source.bulk(latest):
            remark = Remark(thread, latest, f"no end within {limit:,} steps")
            remedy = "; allow more with --max-steps, or check the program with smaller sizes"
            return replace(self._limited("too_many_steps", remark, None, remedy), ended=False)
        frames, loop = next(
            ((place, loop) for place in places if (loop := self._source.loop(place))), (next(iter(places)), None)
        )
        remedy = "; allow more with --max-steps"
        if loop:
            remedy += (
                ", bound the loop with --unroll (`mazurka loops` tells of each loop whether it is a mere wait), or "
                f"try {'--memory sc ' if weak else ''}--engine stateful if it is not meant to end"
            )
        remark = Remark(thread, frames, f"no end within {limit:,} steps")
        return replace(self._limited("too_many_steps", remark, loop, remedy), ended=False)

    def _limited(self, kind: str, remark: Remark, loop: Loop | None, remedy: str) -> End:
        """An execution was not followed any further, in this loop perhaps."""
        bulk = self._source.bulk(remark.frames)
        where = f", {bulk}" if bulk else f", in the loop at {loop}" if loop else ""
        remark = replace(remark, message=remark.message + where)
        return End(None, remark, limit=Limit(kind, remark.message + remedy, *self._where(remark), loop))

    def _where(self, remark: Remark) -> tuple[str | None, int | None, str]:
        position = self._source.position(remark.frames)
        file, line = (position.file, position.line) if position else (None, None)
        return file, line, self._names.thread(remark.thread)

    def _stays(self) -> list[_Stay]:
        """The threads that have not ended and cannot go on. Where the program has ended as a whole, only those that
        were stopped before they were through with a loop."""
        machine = self._machine
        stays = []
        for thread in machine.threads():
            if machine.status(thread) == "stopped":
                stays.append(self._stay(thread, machine.frames(thread)[0]))
            elif machine.status(thread) == "ready" and not machine.exited():
                guard = machine.next(thread).waiting
                stays.append(self._stay(thread, guard.pc, guard) if guard else _Stay(thread, -1, "program"))
        return [stay for stay in stays if stay.why == "bound" or not machine.exited()]

    def _circle(self) -> tuple[Wait, ...]:
        """The threads that wait for each other, if some do, while others can go on."""
        machine, waiting = self._machine, []
        for thread in machine.threads():
            guard = machine.next(thread).waiting if machine.status(thread) == "ready" else None
            if guard is not None and guard.holder and way_on(machine, thread) is None:
                wait = self._wait(self._stay(thread, guard.pc, guard))
                waiting += [wait] if wait else []
        names = _cycle(waiting)
        return tuple(wait for name in names for wait in waiting if wait.thread == name)

    def _spinning(self) -> tuple[Wait, ...]:
        """The threads that wait, if all that still happens is that some of them go round loops, which are there as they
        were written, for ever."""
        waits = []
        for thread, spins, reads in self._machine.livelock():
            frames = self._machine.frames(thread)
            if not spins:
                guard = self._machine.next(thread).waiting
                wait = self._wait(self._stay(thread, guard.pc, guard)) if guard else None
                waits += [wait] if wait else []
                continue
            loop = self._source.loop(frames)
            position = self._source.position(frames)
            if position is not None and loop is not None:
                position = replace(position, file=loop.file, line=loop.line)
            file, line = (position.file, position.line) if position else (None, None)
            statement = self._source.statement(position) if position else None
            watches = self._readings(thread, reads)
            waits.append(Wait(self._names.thread(thread), file, line, statement, "loop", None, None, watches=watches))
        return tuple(waits)

    def _stay(self, thread: int, pc: int, guard: Waiting | None = None) -> _Stay:
        match self._source.instruction(pc):
            case Await():
                why = "resource"
            case Assume(origin="loop"):
                why = "spin" if self._machine.spins(thread) else "loop"
            case Assume(origin="bound"):
                why = "bound"
            case _:
                why = "program"
        return _Stay(thread, pc, why, guard)

    def _judge(
        self, stays: Sequence[_Stay], returned: bool, allow_livelock: bool
    ) -> tuple[bool, bool, bool, str | None]:
        """What it means that these threads stay where they are: the searches ask the same judge."""
        from mazurka import _native

        def told(stay: _Stay) -> tuple[int, str, int, bool]:
            holder = self._names.object(stay.guard.holder).owner if stay.guard is not None and stay.guard.holder else 0
            return stay.thread, "loop" if stay.why == "spin" else stay.why, holder, stay.why == "spin"

        limited = self._machine.failure() is not None
        return _native.judge(
            [told(stay) for stay in stays], returned=returned, limited=limited, allow_livelock=allow_livelock
        )

    def _wait(self, stay: _Stay) -> Wait | None:
        """What a thread waits for, if there is more to say of it than that it stops."""
        # Where in its loop a thread reads in vain is of no interest, where the loop is in the source, is.
        position = self._source.position([stay.pc] if stay.why == "spin" else self._machine.frames(stay.thread))
        file, line = (position.file, position.line) if position else (None, None)
        statement = self._source.statement(position) if position else None
        place = (self._names.thread(stay.thread), file, line, statement)
        if stay.why == "spin":
            return Wait(*place, "loop", None, None, watches=self._watches(stay.thread))
        if stay.guard is None or stay.why in ("loop", "bound"):
            return None
        if stay.why == "program":
            return Wait(*place, "a condition that it assumes", None, None)
        awaited, guard = self._source.instruction(stay.pc), stay.guard
        assert isinstance(awaited, Await)
        name = self._names.place(guard.object, 1, stay.thread).name
        holder = self._names.thread_at(guard.holder) if guard.holder else None
        ended = holder is not None and self._machine.status(self._names.object(guard.holder).owner) in (
            "ended",
            "returned",
        )
        return Wait(*place, awaited.what, name, holder, ended)

    def _watches(self, thread: int) -> tuple[Reading, ...]:
        """What a thread reads in each round of its loop, and finds there at the end."""
        return self._readings(thread, self._machine.watches(thread))

    def _readings(self, thread: int, accesses: Sequence[Access]) -> tuple[Reading, ...]:
        readings: dict[str, Reading] = {}
        for access in accesses:
            if self._names.object(access.address).kind == "thread":
                continue  # a step that touches nothing
            place = self._names.place(access.address, access.size, thread)
            value = None
            if not place.library:
                bits = int.from_bytes(self._machine.read(access.address, access.size), "little")
                value = self._names.value(bits, access.size, place, thread)
            readings.setdefault(place.name, Reading(place.name, value))
        return tuple(readings.values())


def way_on(machine: Machine, thread: int) -> tuple[int, ...] | None:
    """What a thread has to choose so that it can take its next step; None if it cannot, whatever it chooses."""
    untried: list[tuple[int, ...]] = [()]
    while untried:
        choices = untried.pop()
        ahead = machine.next(thread, choices)
        if ahead.enabled:
            return choices
        for position in range(len(choices), len(ahead.ranges)):
            zeros = (0,) * (position - len(choices))
            untried += [(*choices, *zeros, value) for value in range(1, ahead.ranges[position])]
    return None


def _cycle(waiting: Sequence[Wait]) -> tuple[str, ...]:
    """Threads that wait for each other, if some do: each for what the next one holds."""
    holders = {wait.thread: wait.holder for wait in waiting}
    for start in holders:
        path = [start]
        while (holder := holders.get(path[-1])) is not None and holder not in path:
            path.append(holder)
        if holder is not None:
            return tuple(path[path.index(holder) :])
    return ()


def _deadlock(waiting: Sequence[Wait], cycle: Sequence[str]) -> Bug:
    involved = [wait for name in cycle for wait in waiting if wait.thread == name] or list(waiting)
    first = involved[0]
    return Bug("deadlock", "deadlock: " + "; ".join(map(str, involved)), first.file, first.line, first.thread)


def _livelock(waiting: Sequence[Wait]) -> Bug:
    involved = sorted(waiting, key=lambda wait: wait.what != "loop")
    first = involved[0]
    return Bug("livelock", "livelock: " + "; ".join(map(str, involved)), first.file, first.line, first.thread)
