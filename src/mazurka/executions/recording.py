"""Take the steps of a schedule, exactly as it says, on a machine that records what they do."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NoReturn

from mazurka.deadline import Deadline
from mazurka.errors import InputError
from mazurka.executions.schedule import Schedule, ToldStep

if TYPE_CHECKING:
    from mazurka._native import Machine, Operation
    from mazurka.machine.lowering import Lowered

# So many steps are taken at once: in more, nobody would look at the clock, or notice an interrupt.
_STEPS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Recording:
    """An execution: the machine at its end, and what was done. Of a schedule that shows a data race, that is in four
    pieces: what comes before the first of the two steps, what is done in it, what comes between them, and what is done
    in the second."""

    machine: Machine
    pieces: list[list[Operation]]

    @property
    def operations(self) -> list[Operation]:
        return list(chain(*self.pieces))


def record(
    lowered: Lowered,
    schedule: Schedule,
    deadline: Deadline,
    *,
    uninitialised: bool = True,
    leaks: bool = False,
    any_status: bool = False,
    only_race: bool = False,
) -> Recording:
    """Take all steps of a schedule; an `InputError` says at which one it does not fit the program. `only_race`: do not
    keep what is done in other steps than those of the data race."""
    machine = make_machine(lowered, schedule, uninitialised, leaks, any_status)
    ends = [end for number in schedule.race or () for end in (number - 1, number)] or [len(schedule.steps)]
    pieces = []
    begin = 0
    for end in ends:
        if not _follow(machine, schedule, begin, end, deadline):
            _explain_misfit(make_machine(lowered, schedule, uninitialised, leaks, any_status), schedule, deadline)
        if only_race and end not in (schedule.race or ()):
            machine.forget_operations()
        pieces.append(machine.operations())
        begin = end
    try:
        machine.put(schedule.told_end)
    except ValueError:
        raise InputError("the schedule does not fit the program: memory is not there in which it ends") from None
    return Recording(machine, pieces)


def make_machine(
    lowered: Lowered,
    schedule: Schedule,
    uninitialised: bool,
    leaks: bool = False,
    any_status: bool = False,
    *,
    record: bool = True,
) -> Machine:
    """A machine for the steps of a schedule."""
    from mazurka import _native

    try:
        return _native.Machine(
            lowered.code,
            uninitialised=uninitialised,
            leaks=leaks,
            any_status=any_status,
            record=record,
            pause_after=schedule.pause_after,
            follow_locks=True,
            follow_pointers=True,
            thread_names=schedule.threads,
        )
    except ValueError as error:
        raise InputError(f"the schedule does not fit the program: {error}") from None


def _follow(machine: Machine, schedule: Schedule, begin: int, end: int, deadline: Deadline) -> bool:
    """Take the steps from `begin` to `end`, if they fit."""
    if begin < end and schedule.race is not None and end in schedule.race:
        return _take(machine, schedule, end)
    numbers: dict[str, int] = {}
    while begin < end:
        deadline.check()
        if schedule.steps[begin].thread not in numbers:
            numbers = {name: number for number, name in enumerate(machine.thread_names(), 1)}
        steps: list[ToldStep] = []
        for step in schedule.steps[begin : min(end, begin + _STEPS_AT_ONCE)]:
            if step.thread not in numbers or any(choice < 0 for choice in step.choices):
                break
            steps.append(step.told(numbers[step.thread]))
        try:
            if not steps or machine.follow(steps, past_failures=True) < len(steps):
                return False
        except ValueError:  # a step reads where nothing is
            return False
        begin += len(steps)
    return True


def _explain_misfit(machine: Machine, schedule: Schedule, deadline: Deadline) -> NoReturn:
    for number in range(1, len(schedule.steps) + 1):
        deadline.check()
        _take(machine, schedule, number)
    raise AssertionError("a schedule that fits, taken step by step, but not as a whole")


def _take(machine: Machine, schedule: Schedule, number: int) -> bool:
    """One step, after every check that it fits. A step of a data race may be of a thread that waits in a loop. And what
    fails need not end the execution: other threads may come before the failure, but not before the access that is in
    one step with it."""
    step = schedule.steps[number - 1]
    which = f"step {number} of {len(schedule.steps)} is of thread {step.thread}"
    problem = f"the schedule does not fit the program: {which}, "
    threads = {machine.thread_name(thread): thread for thread in machine.threads()}
    if machine.exited():
        raise InputError(problem + "but the execution has ended before it")
    if step.thread not in threads:
        raise InputError(problem + "which does not exist then")
    thread = threads[step.thread]
    if machine.status(thread) != "ready":
        raise InputError(problem + f"which has {machine.status(thread)} before it")
    if any(choice < 0 for choice in step.choices):
        raise InputError(problem + "with a choice below 0")
    *_, reads = step.told(thread)
    try:
        ahead = machine.next(thread, step.choices, reads)
    except ValueError:
        raise InputError(problem + "which reads from memory that is not there") from None
    made = len(ahead.ranges)
    if len(step.choices) > made:
        # It met no more choices than these, or the next one has no such value.
        ranges = machine.next(thread, step.choices[:made], reads).ranges
        if len(ranges) > made:
            raise InputError(f"{problem}with the choice {step.choices[made]} where there are {ranges[made]}")
        raise InputError(f"{problem}with {len(step.choices)} choices, where it makes {made}")
    if not ahead.enabled and schedule.race is not None and number in schedule.race:
        try:
            machine.go_round(thread)
            return True
        except ValueError:
            pass
    if not ahead.enabled:
        raise InputError(problem + "which cannot go on then: it waits")
    machine.step(thread, step.choices, reads)
    return True
