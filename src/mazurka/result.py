"""The answer of a check: a verdict, counts, data races, and the trace and schedule of a bug. A plain value."""

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
class Result:
    """`complete` and `blocked` count executions explored to their end; `redundant` counts those that were given up
    because an equivalent one had been explored. In the `blocked` ones a thread stops at a false assumption, or where a
    loop would only go round again, or at the bound on loops. The last are `bounded`: if there are any, nothing is
    verified; the first, if they are not bounded as well, are `assumed`. That bound is `unroll`, if it was given to the
    check. `algorithm` is the one that did it, which may not be the one that was asked for. If the search ended early,
    `reason` says why, and `estimate` about how many executions there are in all, as far as that can be told. `trace`
    and `schedule` are of the execution that shows the bug, or that meets a limit of Mazurka, which is then the
    `reason`."""

    verdict: Verdict
    bug: Bug | None
    complete: int
    blocked: int
    redundant: int
    algorithm: str
    seconds: float
    trace: Trace | None = None
    schedule: Schedule | None = None
    reason: str | None = None
    estimate: int | None = None
    races: tuple[Race, ...] = ()
    bounded: int = 0
    assumed: int = 0
    unroll: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict.value,
            "bug": self.bug.to_json() if self.bug else None,
            "complete": self.complete,
            "blocked": self.blocked,
            "bounded": self.bounded,
            "assumed": self.assumed,
            "unroll": self.unroll,
            "redundant": self.redundant,
            "algorithm": self.algorithm,
            "seconds": round(self.seconds, 6),
            "reason": self.reason,
            "estimate": self.estimate,
            "races": [race.to_json() for race in self.races],
            "trace": self.trace.to_json() if self.trace else None,
            "schedule": self.schedule.to_json() if self.schedule else None,
        }
