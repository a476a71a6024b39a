"""Recording one execution again, exactly as its schedule says, and tell what happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from mazurka.deadline import NEVER, Deadline
from mazurka.errors import InputError
from mazurka.executions.ending import End, Teller
from mazurka.executions.interleaving import Unknown, as_interleaving
from mazurka.executions.naming import Names
from mazurka.executions.narration import narrate
from mazurka.executions.order import Event, Pair, where_order_mattered
from mazurka.executions.overwritten import Older, older_reads, overwritten_at_end
from mazurka.executions.positions import Source
from mazurka.executions.races import Racing, racing
from mazurka.executions.recording import Recording, make_machine, record
from mazurka.executions.relevance import Relevance
from mazurka.executions.schedule import Schedule
from mazurka.executions.trace import Moment, Order, Thread, Trace, TraceStep
from mazurka.options import MAX_STEPS
from mazurka.program.orders import exceeds_interleavings
from mazurka.result import Bug, Race

if TYPE_CHECKING:
    from mazurka._native import Failure, Machine, Operation
    from mazurka.machine.lowering import Lowered
    from mazurka.program.program import Program


# To find out where the order mattered may take so many seconds, and what a bug depends on.
_TIME_FOR_ORDER = 1.0
_TIME_FOR_RELEVANCE = 1.0
# So many reads are named that show that an execution is no interleaving.
_MOST_READS = 2


@dataclass(frozen=True, slots=True)
class Replay:
    """What happened in an execution, and how it ended."""

    trace: Trace
    end: End


def replay_schedule(
    program: Program,
    lowered: Lowered,
    schedule: Schedule,
    *,
    uninitialised: bool = True,
    leaks: bool = False,
    any_status: bool = False,
    allow_livelock: bool = False,
    max_steps: int = MAX_STEPS.default,
    failing: str | None = None,
    deadline: Deadline = NEVER,
) -> Replay:
    """Re-run `schedule`; an `InputError` says at which step it does not fit the program. Raises `OutOfTime` when the
    deadline has passed before that is done."""
    done = record(lowered, schedule, deadline, uninitialised=uninitialised, leaks=leaks, any_status=any_status)
    source, names = Source(lowered), Names(program, lowered, done.machine)
    if schedule.race is not None:
        return _replay_race(lowered, schedule, done, source, names, uninitialised, deadline)
    operations, failure = done.operations, _failure(done, failing)
    teller = Teller(done.machine, source, names)
    stuck = None if done.machine.failed() else teller.stuck(allow_livelock)
    if failure is not None and (stuck is None or stuck.bug is None):
        end = teller.failed(failure, operations, can_unroll=schedule.pause_after == 0)
    elif stuck is not None:
        end = stuck
    elif len(schedule.steps) >= max_steps:
        end = teller.endless(operations, max_steps, weak=exceeds_interleavings(program, schedule.memory))
    else:
        end = End(ended=False)
    story = _Story(
        program, lowered, schedule, uninitialised, leaks, any_status, allow_livelock, _failing(failure, names)
    )
    interleaved = schedule.is_interleaving
    pair = story.find_order(deadline) if end.bug is not None and interleaved else None
    if pair is not None and pair.inside is not None and _are_calls(operations, source, pair):
        pair = pair.inside
    asked = [_index(operations, event, pair.address) for event in (pair.first, pair.second)] if pair else []
    older = older_reads(operations, schedule)
    distances = _distances(operations, source, names, done.machine, end, older, deadline)
    steps, places = narrate(
        operations,
        source,
        names,
        end.remark,
        asked=asked,
        distances=distances,
        older=older,
        overwritten=overwritten_at_end(operations, schedule),
    )
    trace = _trace(steps, operations, done.machine, source, names, end)
    trace = replace(trace, weak=_weak(lowered, schedule, operations, trace, uninitialised, leaks, any_status))
    return Replay(replace(trace, order=story.tell_order(pair, places, trace)) if pair else trace, end)


def _weak(
    lowered: Lowered,
    schedule: Schedule,
    operations: Sequence[Operation],
    trace: Trace,
    uninitialised: bool,
    leaks: bool = False,
    any_status: bool = False,
) -> str | None:
    """Why an execution is no interleaving, if that is known."""
    try:
        if as_interleaving(lowered, schedule, uninitialised, leaks, any_status) is not None:
            return None
    except Unknown:
        return None

    def shown(number: int) -> int:
        """The step of the trace that a step of the schedule is in."""
        thread = schedule.steps[number - 1].thread
        return max((step.step for step in trace.steps if step.thread == thread and step.step <= number), default=number)

    why = [
        f"step {step.step} reads what step {action.overwritten.unseen[0].step} has overwritten"
        for step in trace.steps
        for action in step.actions
        if action.overwritten and action.overwritten.unseen
    ]
    why += [
        f"step {shown(operations[earlier].step)} overwrites what step {shown(operations[later].step)} writes"
        for later, earlier in overwritten_at_end(operations, schedule).items()
    ]
    found = "this execution cannot happen under sequential consistency"
    return found + (f": {' and '.join(why[:_MOST_READS])}" if why else "")


def _failure(done: Recording, failing: str | None) -> Failure | None:
    """What the execution shows: of several threads that have failed, that of the one that is asked for, or else of the
    first that did so in the latest step with one."""
    machine = done.machine
    failures = {
        machine.thread_name(operation.thread): (operation.step, failure)
        for operation in done.operations
        if operation.kind == "fail" and (failure := machine.failure_of(operation.thread)) and not failure.limit
    }
    if failing in failures:
        return failures[failing][1]
    latest = max((step for step, _ in failures.values()), default=0)
    return next((failure for step, failure in failures.values() if step == latest), machine.failure())


def tell_race(
    program: Program, lowered: Lowered, schedule: Schedule, *, uninitialised: bool = True, deadline: Deadline = NEVER
) -> Race:
    """The data race that a schedule shows, without what leads to it, and so much sooner than `replay_schedule`."""
    done = record(lowered, schedule, deadline, uninitialised=uninitialised, only_race=True)
    pair = _racing(schedule, done, Source(lowered), Names(program, lowered, done.machine))
    return Race(pair.object, pair.first, pair.second, schedule)


def _racing(schedule: Schedule, done: Recording, source: Source, names: Names) -> Racing:
    pair = racing(done.pieces[1], done.pieces[3], source, names)
    if pair is None:
        steps = " and ".join(map(str, schedule.race or ()))
        raise InputError(f"the schedule does not fit the program: its steps {steps} do not race")
    return pair


def _replay_race(
    lowered: Lowered,
    schedule: Schedule,
    done: Recording,
    source: Source,
    names: Names,
    uninitialised: bool,
    deadline: Deadline,
) -> Replay:
    """The execution up to a data race between two of its steps."""
    pair = _racing(schedule, done, source, names)
    before, first, between, _ = map(len, done.pieces)
    indices = before + pair.indices[0], before + first + between + pair.indices[1]
    # What the thread did on its own after the second access is not part of the story.
    operations = done.operations[: indices[1] + 1]
    remarks = [f"data race with {access.thread}" for access in (pair.second, pair.first)]
    older = older_reads(operations, schedule)
    relevance = Relevance(operations, source, names, older)
    for index in indices:
        relevance.add(index)
    distances = relevance.distances(deadline.sooner(_TIME_FOR_RELEVANCE))
    races = dict(zip(indices, remarks, strict=True))
    steps, _ = narrate(operations, source, names, races=races, distances=distances, older=older)
    race = Race(pair.object, pair.first, pair.second, schedule)
    end = End(Bug("race", str(race), race.second.file, race.second.line, race.second.thread), ended=False)
    trace = _trace(steps, operations, done.machine, source, names, end)
    return Replay(replace(trace, weak=_weak(lowered, schedule, operations, trace, uninitialised)), end)


@dataclass(frozen=True, slots=True)
class _Story:
    """An execution that shows a bug, to be told why it does."""

    program: Program
    lowered: Lowered
    schedule: Schedule
    uninitialised: bool
    leaks: bool
    any_status: bool
    allow_livelock: bool
    failing: str

    def find_order(self, deadline: Deadline) -> Pair | None:
        numbers = {name: number for number, name in enumerate(self.schedule.threads, 1)}
        steps = [(numbers[step.thread], step.choices) for step in self.schedule.steps]
        return where_order_mattered(self._machine, steps, self._judge, deadline.sooner(_TIME_FOR_ORDER))

    def _machine(self) -> Machine:
        return make_machine(self.lowered, self.schedule, self.uninitialised, self.leaks, self.any_status, record=False)

    def _judge(self, machine: Machine) -> str | None:
        """How an execution has ended: by a bug, in good order, or for reasons that say nothing about either."""
        names = Names(self.program, self.lowered, machine)
        stuck = Teller(machine, Source(self.lowered), names).stuck(self.allow_livelock)
        if stuck is not None and stuck.bug is not None:
            return "bug"
        told = stuck is not None and not stuck.blocked and machine.failure() is None
        return "end" if told else None

    def tell_order(self, pair: Pair, places: Sequence[tuple[int, int] | None], trace: Trace) -> Order | None:
        moments = [
            self._moment(pair, event, place, trace)
            for event, place in zip((pair.first, pair.second), places, strict=True)
        ]
        first, second = moments
        return Order(first, second, pair.needed) if first and second else None

    def _moment(self, pair: Pair, event: Event, place: tuple[int, int] | None, trace: Trace) -> Moment | None:
        if place is not None:
            step = trace.steps[place[0]]
            return Moment(step.thread, step.actions[place[1]].told, step.file, step.line, place)
        thread = self.schedule.threads[event.thread - 1]
        if event.tried:
            wait = next((wait for wait in trace.waiting if wait.thread == thread and wait.object), None)
            return Moment(thread, f"gets {wait.what} {wait.object}", wait.file, wait.line) if wait else None
        if event.number > len(self.schedule.steps):
            return self._still_to_come(pair, event)
        return self._failure(trace) if event.number == len(self.schedule.steps) else None

    def _failure(self, trace: Trace) -> Moment | None:
        """What fails is not done, and so not among what was."""
        for number, step in enumerate(trace.steps):
            for position, action in enumerate(step.actions):
                if action.kind == "fail":
                    return Moment(step.thread, self.failing, step.file, step.line, (number, position))
        return None

    def _still_to_come(self, pair: Pair, event: Event) -> Moment | None:
        """What a thread does only after another one has failed."""
        machine = record(self.lowered, self.schedule, NEVER, uninitialised=self.uninitialised).machine
        for each in pair.further[: pair.further.index(event) + 1]:
            machine.step(each.thread, each.choices)
        operations = machine.operations()
        index = _index(operations, event, pair.address)
        names, source = Names(self.program, self.lowered, machine), Source(self.lowered)
        steps, (place,) = narrate(operations[index:][:1], source, names, asked=[0])
        if index < 0 or place is None:
            return None
        step = steps[place[0]]
        return Moment(step.thread, step.actions[place[1]].told, step.file, step.line)


def _failing(failure: Failure | None, names: Names) -> str:
    """What a thread does that fails, as a verb."""
    if failure is not None and failure.fault in ("freed", "returned"):
        return f"uses {names.place(failure.address, failure.size, failure.thread).name}"
    if failure is not None and failure.fault == "double_free":
        return f"frees {names.pointer(failure.address, None, failure.thread)}"
    return "fails"


def _distances(
    operations: Sequence[Operation],
    source: Source,
    names: Names,
    machine: Machine,
    end: End,
    older: Mapping[int, Older],
    deadline: Deadline,
) -> list[int | None]:
    """How far operations are from what went wrong: from the failure, or from what threads wait for."""
    relevance = Relevance(operations, source, names, older)
    failure = machine.failure()
    if end.remark is not None:
        relevance.add_place(end.remark.thread, end.remark.frames, failure.address if failure else 0)
    for thread in machine.threads() if end.waiting else ():
        ahead = machine.next(thread) if machine.status(thread) == "ready" else None
        if ahead is not None and not ahead.enabled:
            relevance.add_place(thread, machine.frames(thread))
            for access in ahead.accesses:
                relevance.add_awaited(access.address, access.size)
    return relevance.distances(deadline.sooner(_TIME_FOR_RELEVANCE))


def _are_calls(operations: Sequence[Operation], source: Source, pair: Pair) -> bool:
    """Whether both steps are the library's: what is done between them and the next ones says more."""
    indices = [_index(operations, event, pair.address) for event in (pair.first, pair.second)]
    positions = [source.position(operations[index].frames) for index in indices if index >= 0]
    return len([position for position in positions if position and position.library]) == 2


def _index(operations: Sequence[Operation], event: Event, address: int) -> int:
    """The operation by which a step touches an address: the last that writes there, else one that reads; -1: none."""
    found = -1
    for index, operation in enumerate(operations):
        touches = operation.address <= address < operation.address + max(operation.size, 1)
        writes = operation.written is not None or operation.kind == "free"
        if operation.step == event.number and operation.visible and touches and (writes or found < 0):
            found = index
    return found


def _trace(
    steps: list[TraceStep], operations: list[Operation], machine: Machine, source: Source, names: Names, end: End
) -> Trace:
    frames = chain(
        ((operation.thread, operation.frames) for operation in operations),
        ((thread, machine.frames(thread)) for thread in machine.threads()),
    )
    functions: dict[int, str | None] = {}
    for thread, calls in frames:
        if functions.get(thread) is None:
            functions[thread] = source.outermost(calls)
    return Trace(
        tuple(Thread(names.thread(thread), functions[thread]) for thread in machine.threads()),
        tuple(steps),
        end.waiting,
        end.cycle,
        machine.output().decode("utf-8", "backslashreplace"),
    )
