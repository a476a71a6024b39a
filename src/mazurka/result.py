"""The answer of a check: a verdict, what was covered, data races, the trace and schedule of a bug. A plain value."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

from mazurka.executions.schedule import Schedule
from mazurka.executions.trace import Trace, Wait
from mazurka.program.program import WeakOrder


class Verdict(Enum):
    OK = "ok"
    BUG = "bug"
    INCOMPLETE = "incomplete"

    @property
    def exit_code(self) -> int:
        return {Verdict.OK: 0, Verdict.BUG: 1, Verdict.INCOMPLETE: 3}[self]


@dataclass(frozen=True, slots=True)
class Bug:
    """kind: assertion, abort, memory, deadlock, livelock, race, sync, arithmetic or exit."""

    kind: str
    message: str
    file: str | None
    line: int | None
    thread: str | None

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "message": self.message, "file": self.file, "line": self.line, "thread": self.thread}


@dataclass(frozen=True, slots=True)
class Loop:
    """Where a loop is in the source; `function` is the one that it is in."""

    function: str
    file: str | None
    line: int | None

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}" if self.file else self.function


@dataclass(frozen=True, slots=True)
class Limit:
    """Why an execution was not followed to its end, which says nothing about the program: it needs more room or time
    than there is, or does something that is not supported. kind: too_many_steps, too_many_instructions (in one step),
    stack_overflow, too_large (what it allocates), too_many_threads, too_many_choices, or limit (not supported). Of the
    first two, `loop` is where the thread was, if in one."""

    kind: str
    message: str
    file: str | None = None
    line: int | None = None
    thread: str | None = None
    loop: Loop | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class RaceAccess:
    """One of the two accesses of a data race. kind: "read", "write" or "free". `step` is the number of the
    schedule's step, from 1."""

    kind: str
    atomic: bool
    thread: str
    file: str | None
    line: int | None
    function: str | None
    step: int

    @property
    def place(self) -> tuple[str | None, int | None, str | None]:
        return self.file, self.line, self.function

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.file else self.function or "the library"
        return f"{where} ({self.thread} {self.kind}s{' atomically' if self.atomic else ''})"


@dataclass(frozen=True, slots=True)
class Race:
    """Two accesses to `object` that no synchronisation orders, at least one of them a write and one not atomic.
    `schedule` leads to the second of them; to replay it shows how that comes about."""

    object: str
    first: RaceAccess
    second: RaceAccess
    schedule: Schedule

    @property
    def identity(self) -> tuple[Any, ...]:
        """What tells it apart from others, to a person: the same lines, and the same variable."""
        return self.object, frozenset((self.first.place, self.second.place))

    def __str__(self) -> str:
        return f"data race on `{self.object}`: {self.first} and {self.second}"

    def to_json(self, schedule: bool = False) -> dict[str, Any]:
        return {
            "object": self.object,
            "first": asdict(self.first),
            "second": asdict(self.second),
            "schedule": self.schedule.to_json() if schedule else None,
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """A bug that differs from others in its kind, its place or its message. So many `executions` have shown it, where
    executions are counted. `schedule` leads to it, and `trace` is that execution, unless there was no time for it."""

    bug: Bug
    executions: int | None
    schedule: Schedule | None
    trace: Trace | None = None

    def to_json(self, how: bool) -> dict[str, Any]:
        """`how`: with the trace and the schedule."""
        return {
            **self.bug.to_json(),
            "executions": self.executions,
            "schedule": self.schedule.to_json() if self.schedule and how else None,
            "trace": self.trace.to_json() if self.trace and how else None,
        }


@dataclass(frozen=True, slots=True)
class Suppression:
    """Which data races nobody wants to hear of, and how many there were."""

    pattern: str
    races: int


@dataclass(frozen=True, slots=True)
class Executions:
    """What the stateless engine has covered, or a replay, whose `algorithm` is "replay".

    `complete` and `blocked` count executions explored to their end; `redundant` counts those that were given up because
    an equivalent one had been explored. In the `blocked` ones a thread stops at a false assumption, or where a loop
    would only go round again, or at the bound on loops. The last are `bounded`: if there are any, nothing is verified;
    the first, if they are not bounded as well, are `assumed`. That bound is `unroll`, if it was given to the check.
    `beyond` counts those of the `complete` ones that are not, since they met a limit. If threads that are alike were
    not told apart, `told_apart` are the numbers of complete and blocked ones with these told apart (2**64 - 1: or
    more). `algorithm` is the one that did it, and counts execution graphs if that is "graphs", or classes of these if
    the `equivalence` is "reads-from"; if it is not the one that was asked for, `handed_over` says why. So many `jobs`
    have worked on it. If the search was not `finished`, `estimate` is about how many executions there are in all, as
    far as that can be told."""

    algorithm: str
    complete: int
    blocked: int = 0
    redundant: int = 0
    bounded: int = 0
    assumed: int = 0
    beyond: int = 0
    told_apart: tuple[int, int] | None = None
    handed_over: str | None = None
    unroll: int | None = None
    estimate: int | None = None
    finished: bool = False
    equivalence: str | None = None
    jobs: int = 1

    def to_json(self) -> dict[str, Any]:
        return {"engine": "stateless", **asdict(self)}


@dataclass(frozen=True, slots=True)
class States:
    """What the stateful engine has covered: the states that it `visited`, `per_second` of its time, and all
    `transitions` between them that it took. `finished`: that is everything, so far as the `reduction` leaves it. When
    the search ended, it was `depth` steps away from the start of the program, and `deepest` at most. `memory` is in
    bytes. It began anew `restarts` times, because something that it took for granted (that memory is protected, that
    addresses do not matter) was not so. `exact`: it told states apart by all of their bytes, not by fingerprints.
    `exhausted`: there are too many states for the memory. Whether it looked for `races` and `livelocks`, and which of
    these it `may_miss` all the same. All that can be done in `covered_depth` steps was covered by itself, as far as
    there was a need to. If the choice of the engine was left open, `handed_over` says why it is this one."""

    reduction: str
    exact: bool
    finished: bool
    visited: int
    transitions: int
    depth: int
    deepest: int
    memory: int
    restarts: int
    per_second: float
    exhausted: bool = False
    handed_over: str | None = None
    races: bool = True
    livelocks: bool = True
    covered_depth: int = 0
    may_miss: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether the reduction misses no bugs."""
        return self.reduction != "unsound"

    def to_json(self) -> dict[str, Any]:
        return {
            "engine": "stateful",
            "reduction": self.reduction,
            "sound": self.sound,
            "exact": self.exact,
            "finished": self.finished,
            "states": self.visited,
            "transitions": self.transitions,
            "depth": self.depth,
            "deepest": self.deepest,
            "covered_depth": self.covered_depth,
            "may_miss": list(self.may_miss),
            "memory": self.memory,
            "restarts": self.restarts,
            "per_second": round(self.per_second),
            "handed_over": self.handed_over,
        }


# Why interleavings are all executions, and to know that, data races have to be looked for.
SUFFICIENT = "no atomic access is weaker than seq_cst"


@dataclass(frozen=True, slots=True)
class Result:
    """`coverage` is what was covered, as the engine counts it: `executions` or `states`. If that is not everything,
    `reason` says why, unless it is because of the bug or of the bound on loops. `seconds` is the time, compiling
    included. All of it is about the executions of a `memory_model`; if these are interleavings, or data races, although
    the model has others, `why_interleavings` says why, unless there is no atomic access at all. `trace` and `schedule`
    are of the execution that shows the bug, or else of one that meets a `limit` of Mazurka, which is then the `reason`,
    or part of it. `left` are threads that still wait when `main` returns, in the execution with the most of them, if
    there is no bug. `weak_orders` are the lines of the program that ask for weak memory orders or fences, which make no
    difference to "sc"; `left_out` says what else was not, because of functions that the program calls. So many data
    races were `suppressed`, by the `suppressions` that were asked for. `bugs` are all that were found, of which the
    first is `bug`."""

    verdict: Verdict
    bug: Bug | None
    coverage: Executions | States
    seconds: float
    trace: Trace | None = None
    schedule: Schedule | None = None
    reason: str | None = None
    races: tuple[Race, ...] = ()
    limit: Limit | None = None
    weak_orders: tuple[WeakOrder, ...] = ()
    suppressed: int = 0
    suppressions: tuple[Suppression, ...] = ()
    bugs: tuple[Finding, ...] = ()
    left: tuple[Wait, ...] = ()
    left_out: tuple[str, ...] = ()
    memory_model: str = "sc"
    why_interleavings: str | None = None

    @staticmethod
    def judged(
        *,
        bug: Bug | None,
        limit: Limit | None,
        reason: str | None,
        coverage: Executions | States,
        seconds: float,
        trace: Trace | None = None,
        schedule: Schedule | None = None,
        races: tuple[Race, ...] = (),
        weak_orders: tuple[WeakOrder, ...] = (),
        suppressed: int = 0,
        suppressions: tuple[Suppression, ...] = (),
        bugs: tuple[Finding, ...] = (),
        left: tuple[Wait, ...] = (),
        left_out: tuple[str, ...] = (),
        memory_model: str = "sc",
        why_interleavings: str | None = None,
    ) -> Result:
        """The one order of precedence. A bug of the program counts, whatever else was met. Next comes what kept
        everything else from being covered: the `limit` of Mazurka that an execution met, any other `reason`, or the
        bound on loops. Only if there is none of these, and no execution was cut short, the program is verified."""
        cut = isinstance(coverage, Executions) and coverage.bounded + coverage.beyond > 0
        if limit is not None:
            reason = f"{limit.message}; {reason}" if reason else limit.message
        verdict = Verdict.BUG if bug else Verdict.INCOMPLETE if reason or cut else Verdict.OK
        return Result(
            *(verdict, bug, coverage, seconds, trace, schedule, reason, races, limit),
            left=left,
            weak_orders=weak_orders,
            suppressed=suppressed,
            suppressions=suppressions,
            bugs=bugs,
            left_out=left_out,
            memory_model=memory_model,
            why_interleavings=why_interleavings,
        )

    @property
    def executions(self) -> Executions:
        """What the stateless engine has covered."""
        if not isinstance(self.coverage, Executions):
            raise TypeError("the stateful engine covers states, not executions")
        return self.coverage

    @property
    def states(self) -> States:
        """What the stateful engine has covered."""
        if not isinstance(self.coverage, States):
            raise TypeError("the stateless engine covers executions, not states")
        return self.coverage

    def to_json(self, race_schedules: bool = False) -> dict[str, Any]:
        """With `race_schedules`, also how each data race comes about, which can take much room."""
        races = [race.to_json(race_schedules) for race in self.races]
        return {
            "verdict": self.verdict.value,
            "bug": self.bug.to_json() if self.bug else None,
            "bugs": [finding.to_json(how=number > 0) for number, finding in enumerate(self.bugs)],
            "memory_model": self.memory_model,
            "why_interleavings": self.why_interleavings,
            **self.coverage.to_json(),
            "seconds": round(self.seconds, 6),
            "reason": self.reason,
            "limit": self.limit.to_json() if self.limit else None,
            "left": [asdict(wait) for wait in self.left],
            "races": races if isinstance(self.coverage, Executions) or self.coverage.races else None,
            "weak_orders": [asdict(order) for order in self.weak_orders],
            "left_out": list(self.left_out),
            "suppressed_races": self.suppressed,
            "suppressions": [asdict(suppression) for suppression in self.suppressions],
            "trace": self.trace.to_json() if self.trace else None,
            "schedule": self.schedule.to_json() if self.schedule else None,
        }
