"""Run one execution again, exactly as its schedule says, and tell what happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mazurka.errors import InputError
from mazurka.faults import explain
from mazurka.naming import Names
from mazurka.narration import narrate
from mazurka.positions import Source
from mazurka.program.instructions import Assume, Await
from mazurka.races import racing
from mazurka.result import Bug, Race
from mazurka.schedule import Schedule, Step
from mazurka.trace import Reading, Thread, Trace, TraceStep, Wait

if TYPE_CHECKING:
    from mazurka._native import Failure, Machine, Operation, Waiting
    from mazurka.program.program import Program
    from mazurka.transforms.lowering import Lowered

# Longer traces lose their middle: nobody reads a hundred thousand steps.
_LONGEST_TRACE = 1000
_KEPT_AT_EACH_END = _LONGEST_TRACE // 2


@dataclass(frozen=True, slots=True)
class Replay:
    """`bug` is what the execution shows, if anything; a schedule that is about a data race shows that `race`. The
    execution is not `ended` if threads could still go on. It is `blocked` if it ended because of an assumption, or of
    a loop that would only go round again, `bounded` if it did because of the bound on a loop, and otherwise `assumed`
    if because of an assumption. Of a run-time error, `fault` is the machine's name."""

    trace: Trace
    bug: Bug | None
    ended: bool
    blocked: bool
    bounded: bool = False
    assumed: bool = False
    race: Race | None = None
    fault: str | None = None


def replay_schedule(
    program: Program,
    lowered: Lowered,
    schedule: Schedule,
    *,
    uninitialised: bool = True,
    allow_livelock: bool = False,
    max_steps: int = 100_000,
) -> Replay:
    """Re-run `schedule`; an `InputError` says at which step it does not fit the program."""
    from mazurka import _native

    try:
        machine = _native.Machine(
            lowered.code,
            uninitialised=uninitialised,
            record=True,
            pause_after=schedule.pause_after,
            thread_names=schedule.threads,
        )
    except ValueError as error:
        raise InputError(f"the schedule does not fit the program: {error}") from None
    operations = [(0, operation) for operation in machine.operations()]
    for number, step in enumerate(schedule.steps, 1):
        _take(machine, step, number, len(schedule.steps), schedule.race is not None and number in schedule.race)
        operations += [(number, operation) for operation in machine.operations()]
    pauses = schedule.pause_after > 0
    ending = _Ending(program, lowered, machine, operations, allow_livelock, max_steps, pauses)
    return ending.tell(len(schedule.steps)) if schedule.race is None else ending.tell_race(schedule, *schedule.race)


def failure_of(lowered: Lowered, schedule: Schedule, *, uninitialised: bool = True) -> Failure | None:
    """How an execution that is known to fit the program fails: only that, and so much sooner than `replay_schedule`."""
    from mazurka import _native

    machine = _native.Machine(
        lowered.code, uninitialised=uninitialised, pause_after=schedule.pause_after, thread_names=schedule.threads
    )
    threads: dict[str, int] = {}
    for step in schedule.steps:
        if step.thread not in threads:
            threads = {machine.thread_name(thread): thread for thread in machine.threads()}
        machine.step(threads[step.thread], step.choices)
    return machine.failure()


def _take(machine: Machine, step: Step, number: int, count: int, race: bool) -> None:
    """One step, after every check that it fits. A step of a data race may be of a thread that waits in a loop."""
    problem = f"the schedule does not fit the program: step {number} of {count} is of thread {step.thread}, "
    threads = {machine.thread_name(thread): thread for thread in machine.threads()}
    if machine.failure() is not None or machine.exited():
        raise InputError(problem + "but the execution has ended before it")
    if step.thread not in threads:
        raise InputError(problem + "which does not exist then")
    thread = threads[step.thread]
    if machine.status(thread) != "ready":
        raise InputError(problem + f"which has {machine.status(thread)} before it")
    if any(choice < 0 for choice in step.choices):
        raise InputError(problem + "with a choice below 0")
    ahead = machine.next(thread, step.choices)
    made = len(ahead.ranges)
    if len(step.choices) > made:
        # It met no more choices than these, or the next one has no such value.
        ranges = machine.next(thread, step.choices[:made]).ranges
        if len(ranges) > made:
            raise InputError(f"{problem}with the choice {step.choices[made]} where there are {ranges[made]}")
        raise InputError(f"{problem}with {len(step.choices)} choices, where it makes {made}")
    if not ahead.enabled and race:
        try:
            machine.go_round(thread)
            return
        except ValueError:
            pass
    if not ahead.enabled:
        raise InputError(problem + "which cannot go on then: it waits")
    machine.step(thread, step.choices)


@dataclass(frozen=True, slots=True)
class _Stay:
    """A thread that cannot go on, the instruction that it is at, and why: it waits for a "resource"; it would go round
    a loop again, to no end ("spin") or so as to leave it ("loop"), which happens in another execution; the "program"
    assumes that this does not happen; the "bound" of a loop is reached."""

    thread: int
    pc: int
    why: str
    guard: Waiting | None = None


class _Ending:
    """The end of an execution, and what it means."""

    def __init__(
        self,
        program: Program,
        lowered: Lowered,
        machine: Machine,
        operations: list[tuple[int, Operation]],
        allow_livelock: bool,
        limit: int,
        pauses: bool,
    ) -> None:
        self._program = program
        self._lowered = lowered
        self._machine = machine
        self._operations = operations
        self._allow_livelock = allow_livelock
        self._limit = limit
        self._pauses = pauses
        self._source = Source(lowered)
        self._names = Names(program, lowered, machine)
        self._names.learn(operation for _, operation in operations)

    def tell(self, count: int) -> Replay:
        """What the execution shows at its end, after `count` steps."""
        waiting: tuple[Wait, ...] = ()
        cycle: tuple[str, ...] = ()
        bug: Bug | None = None
        failure: tuple[int, Sequence[int], str] | None = None
        ended = self._has_ended()
        blocked = bounded = assumed = False
        failed = self._machine.failure()
        if failed is not None:
            done = [operation for _, operation in self._operations]
            message = explain(failed, done, self._source, self._names, self._lowered)
            remedy = ""
            if failed.fault == "too_many_instructions":
                loop = self._loop(failed.frames)
                message += loop
                remedy = "; if it does end, check the program with less to do in one step"
                remedy += ", else bound the loop with --unroll" if loop and not self._pauses else ""
            bug = self._bug(failed.kind, message + remedy, failed.thread, failed.frames)
            failure = (failed.thread, failed.frames, message)
        elif ended:
            stays = self._stays()
            blocked = any(stay.why != "resource" for stay in stays)
            bounded = any(stay.why == "bound" for stay in stays)
            assumed = not bounded and any(stay.why == "program" for stay in stays)
            waiting = tuple(wait for stay in stays if (wait := self._wait(stay)))
            cycle = _cycle(waiting)
            bug = self._judge(stays, waiting, cycle)
        elif circle := self._circle():
            # Others can go on, for ever perhaps, which changes nothing for these.
            waiting, cycle = circle, tuple(wait.thread for wait in circle)
            bug = _deadlock(waiting, cycle)
        elif count >= self._limit:
            thread = self._operations[-1][1].thread
            frames = self._machine.frames(thread)
            loop = self._loop(frames)
            message = f"no end within {self._limit:,} steps{loop}"
            failure = (thread, frames, message)
            remedy = "allow more with --max-steps"
            if loop:
                remedy += (
                    ", bound the loop with --unroll (`mazurka loops` tells of each loop whether it is a mere wait), or "
                    "try --engine stateful if it is not meant to end"
                )
            bug = self._bug("steps", f"{message}; {remedy}", thread, frames)
        steps = narrate(self._operations, self._source, self._names, failure)
        trace = self._trace(steps, waiting, cycle)
        return Replay(trace, bug, ended, blocked, bounded, assumed, fault=failed.fault if failed else None)

    def tell_race(self, schedule: Schedule, first: int, second: int) -> Replay:
        """The execution up to a data race between two of its steps."""
        pair = racing(self._operations, first, second, self._lowered, self._source, self._names)
        if pair is None:
            raise InputError(f"the schedule does not fit the program: its steps {first} and {second} do not race")
        # What the thread did on its own after the second access is not part of the story.
        del self._operations[pair.indices[1] + 1 :]
        remarks = {
            pair.indices[0]: f"data race with {pair.second.thread}",
            pair.indices[1]: f"data race with {pair.first.thread}",
        }
        trace = self._trace(narrate(self._operations, self._source, self._names, races=remarks), (), ())
        race = Race(pair.object, pair.first, pair.second, trace, schedule)
        bug = Bug("race", str(race), race.second.file, race.second.line, race.second.thread)
        return Replay(trace, bug, ended=False, blocked=False, race=race)

    def _has_ended(self) -> bool:
        machine = self._machine
        if machine.exited() or machine.failure() is not None:
            return True
        return not any(_can_go_on(machine, thread) for thread in machine.threads())

    def _bug(self, kind: str, message: str, thread: int, frames: Sequence[int]) -> Bug:
        position = self._source.position(frames)
        file, line = (position.file, position.line) if position else (None, None)
        return Bug(kind, message, file, line, self._names.thread(thread))

    def _loop(self, frames: Sequence[int]) -> str:
        loop = self._source.loop(frames)
        return f", in the loop at {loop}" if loop else ""

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
            if guard is not None and guard.holder and not _can_go_on(machine, thread):
                wait = self._wait(self._stay(thread, guard.pc, guard))
                waiting += [wait] if wait else []
        names = _cycle(waiting)
        return tuple(wait for name in names for wait in waiting if wait.thread == name)

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

    def _judge(self, stays: Sequence[_Stay], waiting: Sequence[Wait], cycle: Sequence[str]) -> Bug | None:
        """What it means that these threads stay where they are, in the way of the search: threads that wait for each
        other do so whatever the others do; apart from that, an assumption or a bound excuses all."""
        reasons = {stay.why for stay in stays}
        if cycle or reasons == {"resource"}:
            return _deadlock(waiting, cycle)
        if "spin" in reasons and reasons <= {"spin", "resource"} and not self._allow_livelock:
            return _livelock(waiting)
        return None

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
        ended = holder is not None and self._machine.status(self._names.object(guard.holder).owner) == "ended"
        return Wait(*place, awaited.what, name, holder, ended)

    def _watches(self, thread: int) -> tuple[Reading, ...]:
        """What a thread reads in each round of its loop, and finds there at the end."""
        readings: dict[str, Reading] = {}
        for access in self._machine.watches(thread):
            if self._names.object(access.address).kind == "thread":
                continue  # a step that touches nothing
            place = self._names.place(access.address, access.size, thread)
            value = None
            if not place.library:
                bits = int.from_bytes(self._machine.read(access.address, access.size), "little")
                value = self._names.value(bits, access.size, place, thread)
            readings.setdefault(place.name, Reading(place.name, value))
        return tuple(readings.values())

    def _trace(self, steps: list[TraceStep], waiting: tuple[Wait, ...], cycle: tuple[str, ...]) -> Trace:
        functions: dict[int, str] = {}
        for _, operation in self._operations:
            if operation.thread not in functions:
                function = self._source.outermost(operation.frames)
                if function is not None:
                    functions[operation.thread] = function
        for thread in self._machine.threads():
            if thread not in functions:
                function = self._source.outermost(self._machine.frames(thread))
                if function is not None:
                    functions[thread] = function
        printed = bytes(op.written or 0 for _, op in self._operations if op.kind == "output")
        omitted = len(steps) - 2 * _KEPT_AT_EACH_END if len(steps) > _LONGEST_TRACE else 0
        if omitted:
            steps = steps[:_KEPT_AT_EACH_END] + steps[-_KEPT_AT_EACH_END:]
        return Trace(
            tuple(Thread(self._names.thread(thread), functions.get(thread)) for thread in self._machine.threads()),
            tuple(steps),
            waiting,
            cycle,
            printed.decode("utf-8", "backslashreplace"),
            omitted,
            _KEPT_AT_EACH_END if omitted else 0,
        )


def _can_go_on(machine: Machine, thread: int) -> bool:
    """Whether a thread has a step that it can take, whatever it chooses on the way."""
    untried: list[tuple[int, ...]] = [()]
    while untried:
        choices = untried.pop()
        ahead = machine.next(thread, choices)
        if ahead.enabled:
            return True
        for position in range(len(choices), len(ahead.ranges)):
            zeros = (0,) * (position - len(choices))
            untried += [(*choices, *zeros, value) for value in range(1, ahead.ranges[position])]
    return False


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
