"""From source files to schedules that are proved safe: the iterations of the abstract engine, as they come."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from mazurka.checking import Files, file_names
from mazurka.constrained import load_model
from mazurka.constrained.enforce import Builder
from mazurka.constrained.impact.iterative import FinalVerdict, IterativeImpact, SearchProgress
from mazurka.constrained.model import Model
from mazurka.constrained.model.solver import Integers
from mazurka.constrained.picture import describe
from mazurka.constrained.plan import ProgramSchedule, program_schedule
from mazurka.constrained.proof import Counterexample, Proof
from mazurka.deadline import NEVER, Deadline, OutOfTime
from mazurka.engines import running
from mazurka.errors import InputError
from mazurka.executions.replaying import replay_schedule
from mazurka.executions.trace import Trace
from mazurka.options import INTEGERS, TIMEOUT, UNTIL
from mazurka.program.orders import weak_orders_of
from mazurka.program.program import WeakOrder
from mazurka.result import Bug, Executions, Result, Verdict

Until = int | Literal["complete"]

# Threads can also get stuck without a bug: at assumptions, or where they compute for ever.
NO_SCHEDULE = "there is no schedule that is safe, free of deadlocks and fair"
NO_SCHEDULE_FOUND = "no schedule was found under which every thread that can run does"

NOT_BUILDABLE = "none of the schedules that were found can be built"
_MOST_IN_VAIN = 10  # schedules that cannot be built, before the search is given up

_TOO_DEEP = "what is known of some states of the program has become too much"


@dataclass(frozen=True, slots=True)
class SafeIteration:
    """An iteration that found more schedules that are safe. `schedule` permits them and those found before. `obstacle`
    is why no native program can be built that keeps to it, if that was asked and is so."""

    number: int
    seconds: float
    schedule: ProgramSchedule
    obstacle: str | None = None

    @property
    def nodes(self) -> int:
        return len(self.schedule.proof.nodes)

    def describe(self) -> list[str]:
        """What the schedule permits, in words."""
        return describe(self.schedule)

    def to_json(self) -> dict[str, Any]:
        return {
            "safe": True,
            "seconds": round(self.seconds, 6),
            "nodes": self.nodes,
            "sections": len(self.schedule.sections),
            "permits": self.describe(),
            "obstacle": self.obstacle,
        }


@dataclass(frozen=True, slots=True)
class UnsafeIteration:
    """An iteration that found a bug. `result` is that of replaying it."""

    number: int
    seconds: float
    result: Result

    def to_json(self) -> dict[str, Any]:
        result = self.result
        return {
            "safe": False,
            "seconds": round(self.seconds, 6),
            "bug": result.bug.to_json() if result.bug else None,
            "trace": result.trace.to_json() if result.trace else None,
            "schedule": result.schedule.to_json() if result.schedule else None,
        }


Iteration = SafeIteration | UnsafeIteration


@dataclass(frozen=True, slots=True)
class FoundSchedules:
    """How the search for schedules has ended. `verdict` is about all schedules of the program: it is None if not all
    were looked at. `reason` says why the search ended before it had what was asked for. `schedule` is the last one that
    was found, or the last one that can be built if there is one; `exhausted`: there are no more. All of it is about
    `integers` as those of the machine ("bits") or without limits ("mathematical"), and about interleavings:
    `weak_orders` are the lines of the program that ask for weak memory orders or fences, which make no difference."""

    verdict: FinalVerdict | None
    reason: str | None
    integers: Integers
    exhausted: bool
    iterations: tuple[Iteration, ...]
    schedule: ProgramSchedule | None
    progress: SearchProgress
    seconds: float
    weak_orders: tuple[WeakOrder, ...] = ()

    @property
    def exit_code(self) -> int:
        """As for a check: 0 if there is nothing to complain of, 1 for a bug, 3 if what was asked for is not there."""
        if self.verdict is not None:
            return 0 if self.verdict == "safe" else 1
        return 3 if self.reason else 0

    def to_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "integers": self.integers,
            "iterations": [iteration.to_json() for iteration in self.iterations],
            "seconds": round(self.seconds, 6),
            "weak_orders": [asdict(order) for order in self.weak_orders],
        }


def find_schedules(
    files: Files,
    *,
    until: Until = 1,
    integers: Integers = "bits",
    timeout: float | None = None,
    compiler_arguments: Sequence[str] = (),
    program_arguments: Sequence[str] = (),
    cc: str | None = None,
    buildable: bool = True,
    last_first: bool = False,
    found: Callable[[Iteration], None] | None = None,
    progress: Callable[[int, SearchProgress, float], None] | None = None,
) -> FoundSchedules:
    """Look for schedules of a program under which it is safe, free of deadlocks and fair, whatever its inputs.

    The search ends with the first schedule, or after as many iterations as `until` says that found one, or when all
    schedules of the program are known to be safe or not. A schedule to which no native program can be shown to keep
    does not count, unless `buildable` is False: then nobody asks. It also ends on Ctrl-C, with what it has. With
    `last_first`, of threads that have waited equally long, the one that is created last goes first. `found` is called
    with each iteration when it is done, `progress` about ten times a second with the number of the next one, how far it
    is, and the seconds so far, both from the thread that called this.
    """
    UNTIL.check(until)
    INTEGERS.check(integers)
    TIMEOUT.check(timeout)
    start = time.monotonic()
    names = file_names(files)
    model = load_model(names, compiler_arguments=compiler_arguments, program_arguments=program_arguments, cc=cc)
    search = IterativeImpact(model, integers=integers, last_first=last_first)
    obstacle = _obstacles(names, model, compiler_arguments, cc) if buildable and integers == "bits" else None
    session = _Session(search, until, obstacle)
    iterations: list[Iteration] = []
    bugs: set[object] = set()
    deadline = Deadline.after(timeout)

    def collect() -> None:
        while not session.results.empty():
            seconds, result = session.results.get()
            number = len(iterations) + 1
            iteration = _told(model, integers, result, number, seconds - start, deadline)
            if isinstance(iteration, UnsafeIteration):
                bug = iteration.result.bug
                if bug in bugs:
                    continue  # in another way
                bugs.add(bug)
            iterations.append(iteration)
            if found is not None:
                found(iteration)

    def watch(seconds: float) -> None:
        collect()
        if progress is not None:
            progress(len(iterations) + 1, search.progress(), time.monotonic() - start)

    _, reason = running.run(session, deadline, watch)
    collect()
    safe = [iteration for iteration in iterations if isinstance(iteration, SafeIteration)]
    best = [iteration for iteration in safe if iteration.obstacle is None] or safe
    return FoundSchedules(
        verdict=session.verdict,
        reason=reason or session.reason,
        integers=integers,
        exhausted=session.exhausted,
        iterations=tuple(iterations),
        schedule=best[-1].schedule if best else None,
        progress=search.progress(),
        seconds=time.monotonic() - start,
        weak_orders=weak_orders_of(model.program) if model.program is not None else (),
    )


# A schedule and why it cannot be built, or an execution that goes wrong.
_Found = tuple[ProgramSchedule, str | None] | Counterexample
_Obstacle = Callable[[ProgramSchedule], str | None]


def _obstacles(names: Sequence[str], model: Model, compiler_arguments: Sequence[str], cc: str | None) -> _Obstacle:
    """What tells why a schedule cannot be built."""
    try:
        return Builder(names, model, compiler_arguments=compiler_arguments, cc=cc).obstacle
    except InputError as error:  # what is hidden from the check does not compile, say
        message = str(error)
        return lambda _: message


class _Session:
    """The iterations that were asked for, as a search that `running.run` can run in a thread of its own. Their results
    go through a queue, with the time at which they were there."""

    def __init__(self, search: IterativeImpact, until: Until, obstacle: _Obstacle | None) -> None:
        self.results: queue.SimpleQueue[tuple[float, _Found]] = queue.SimpleQueue()
        self.verdict: FinalVerdict | None = None
        self.reason: str | None = None  # why there is no verdict, other than that it was stopped
        self.exhausted = False
        self._search = search
        self._until = until
        self._obstacle = obstacle
        self._stopped = False
        self._proof: Proof | None = None  # the last one

    def run(self) -> None:
        try:
            self._run()
        except RecursionError:  # what has been found until then stays
            self.reason = _TOO_DEEP

    def _run(self) -> None:
        proofs = bugs = in_vain = 0
        wanted = 1 if self._until == "complete" else self._until
        for result in self._search.iterate():
            obstacle = self._put(result)
            proofs += isinstance(result, Proof)
            bugs += isinstance(result, Counterexample)
            in_vain += obstacle is not None
            if proofs - in_vain == wanted or (in_vain and self._until == "complete"):
                break
            if in_vain == _MOST_IN_VAIN:
                self.reason = NOT_BUILDABLE
                break
        else:
            self.exhausted = not self._stopped and not self._search.decided
            if proofs and proofs == in_vain:
                self.reason = NOT_BUILDABLE
        if self._until == "complete" and not self._stopped:
            self._complete()
        elif proofs == 0 and not self._stopped:
            self._decide(has_bugs=bugs > 0)

    def stop(self) -> None:
        self._stopped = True
        self._search.stop()

    def _decide(self, *, has_bugs: bool) -> None:
        """Whether there is a schedule after all, if the iterations have found none."""
        answer = self._search.has_schedule()
        if self._search.proof is not None:
            self._put(self._search.proof)
            self.exhausted = False  # it is one of them, not all that there are
        elif answer is None:
            self.reason = self._search.undecided
        elif has_bugs:
            self.verdict = "unsafe"
        else:
            self.reason = NO_SCHEDULE

    def _complete(self) -> None:
        rest = self._search.complete()
        while True:
            try:
                self._put(next(rest))
            except StopIteration as end:
                self.verdict = end.value
                break
        if self.verdict is None:
            self.reason = self._search.undecided
        elif not self._stopped:
            self._search.has_schedule()
        if self._search.proof is not None and self._search.proof is not self._proof:
            self._put(self._search.proof)

    def _put(self, result: Proof | Counterexample) -> str | None:
        """Pass a result on. Why a schedule cannot be built, if so."""
        found = time.monotonic()
        if isinstance(result, Counterexample):
            self.results.put((found, result))
            return None
        self._proof = result
        schedule = program_schedule(result)
        obstacle = None if self._obstacle is None else self._obstacle(schedule)
        self.results.put((found, (schedule, obstacle)))
        return obstacle


def _told(
    model: Model, integers: Integers, result: _Found, number: int, seconds: float, deadline: Deadline
) -> Iteration:
    if isinstance(result, tuple):
        return SafeIteration(number, seconds, *result)
    bug, trace = _replayed(model, integers, result, deadline)
    coverage = Executions(algorithm="replay", complete=1)
    return UnsafeIteration(number, seconds, Result(Verdict.BUG, bug, coverage, seconds, trace, result.schedule))


def _replayed(model: Model, integers: Integers, found: Counterexample, deadline: Deadline) -> tuple[Bug, Trace | None]:
    """The bug as the virtual machine shows it. Where a thread computes for ever, which is one step of the machine, it
    shows nothing."""
    assert model.program is not None and model.lowered is not None
    # Without limits on integers, it is a bug only if it shows, however long that takes.
    deadline = deadline.extended() if integers == "bits" else NEVER
    try:
        replayed = replay_schedule(model.program, model.lowered, found.schedule, any_status=True, deadline=deadline)
    except InputError as error:
        return _untold(model, found, str(error)), None
    except OutOfTime:
        return _untold(model, found, deadline.reason), None
    bug = replayed.end.bug
    if replayed.end.limit is not None:
        return _untold(model, found, replayed.end.limit.message), None
    if bug is None and integers == "mathematical":
        raise InputError(
            f"with integers that have no limits, there is a failure ({found.message}) that does not happen with those "
            "of the machine: use --integers bits"
        )
    if bug is None:
        raise AssertionError(f"a failure does not show when its schedule is replayed: {found.message}")
    return bug, replayed.trace


def _untold(model: Model, found: Counterexample, problem: str) -> Bug:
    message = f"{found.message}; there is no trace, since it cannot be replayed: {problem}"
    last = found.path[-1] if found.path else None
    location = last.failure.location if last is not None and last.failure is not None else None
    file, line = (location.file, location.line) if location is not None else (None, None)
    return Bug(found.kind, message, file, line, model.threads[last.thread].name if last is not None else None)
