"""The answer of a check: a verdict, what was covered, data races, the trace and schedule of a bug. A plain value."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

from mazurka.schedule import Schedule
from mazurka.trace import Trace


class Verdict(Enum):
    OK = "ok"
    BUG = "bug"
    INCOMPLETE = "incomplete"

    @property
    def exit_code(self) -> int:
        return {Verdict.OK: 0, Verdict.BUG: 1, Verdict.INCOMPLETE: 3}[self]


@dataclass(frozen=True, slots=True)
class Bug:
    """kind: assertion, abort, memory, deadlock, livelock, race, sync, arithmetic or steps."""

    kind: str
    message: str
    file: str | None
    line: int | None
    thread: str | None

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "message": self.message, "file": self.file, "line": self.line, "thread": self.thread}


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
    `schedule` and `trace` lead to the second of them."""

    object: str
    first: RaceAccess
    second: RaceAccess
    trace: Trace
    schedule: Schedule

    def __str__(self) -> str:
        return f"data race on `{self.object}`: {self.first} and {self.second}"

    def to_json(self) -> dict[str, Any]:
        return {
            "object": self.object,
            "first": asdict(self.first),
            "second": asdict(self.second),
            "trace": self.trace.to_json(),
            "schedule": self.schedule.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Executions:
    """What the stateless engine has covered, or a replay, whose `algorithm` is "replay".

    `complete` and `blocked` count executions explored to their end; `redundant` counts those that were given up
    because an equivalent one had been explored. In the `blocked` ones a thread stops at a false assumption, or where a
    loop would only go round again, or at the bound on loops. The last are `bounded`: if there are any, nothing is
    verified; the first, if they are not bounded as well, are `assumed`. That bound is `unroll`, if it was given to the
    check. `algorithm` is the one that did it, which may not be the one that was asked for. If the search ended early,
    `estimate` is about how many executions there are in all, as far as that can be told."""

    algorithm: str
    complete: int
    blocked: int = 0
    redundant: int = 0
    bounded: int = 0
    assumed: int = 0
    unroll: int | None = None
    estimate: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {"engine": "stateless", **asdict(self)}


@dataclass(frozen=True, slots=True)
class States:
    """What the stateful engine has covered: the states that it `visited`, `per_second` of its time, and all
    `transitions` between them that it took. `finished`: that is everything, so far as the `reduction` leaves it. When
    the search ended, it was `depth` steps away from the start of the program, and `deepest` at most. `memory` is in
    bytes. It began anew `restarts` times, because something that it took for granted (that memory is protected, that
    addresses do not matter) was not so. `exact`: it told states apart by all of their bytes, not by fingerprints."""

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
            "memory": self.memory,
            "restarts": self.restarts,
            "per_second": round(self.per_second),
        }


@dataclass(frozen=True, slots=True)
class Result:
    """`coverage` is what was covered, as the engine counts it: `executions` or `states`. If that is not everything,
    `reason` says why, unless it is because of the bug or of the bound on loops. `seconds` is the time, compiling
    included. `trace` and `schedule` are of the execution that shows the bug, or that meets a limit of Mazurka, which is
    then the `reason`. The stateful engine does not look for `races`."""

    verdict: Verdict
    bug: Bug | None
    coverage: Executions | States
    seconds: float
    trace: Trace | None = None
    schedule: Schedule | None = None
    reason: str | None = None
    races: tuple[Race, ...] = ()

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

    def to_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict.value,
            "bug": self.bug.to_json() if self.bug else None,
            **self.coverage.to_json(),
            "seconds": round(self.seconds, 6),
            "reason": self.reason,
            "races": [race.to_json() for race in self.races] if isinstance(self.coverage, Executions) else None,
            "trace": self.trace.to_json() if self.trace else None,
            "schedule": self.schedule.to_json() if self.schedule else None,
        }
