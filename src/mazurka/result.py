"""The answer of a check: a verdict, counts, and for a bug its trace and schedule. A plain value."""

from __future__ import annotations

from dataclasses import dataclass
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
class Result:
    """`complete` and `blocked` count executions explored to their end; `redundant` counts those that were given up
    because an equivalent one had been explored. `reason` says what stopped an incomplete search."""

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

    def to_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict.value,
            "bug": self.bug.to_json() if self.bug else None,
            "complete": self.complete,
            "blocked": self.blocked,
            "redundant": self.redundant,
            "algorithm": self.algorithm,
            "seconds": round(self.seconds, 6),
            "reason": self.reason,
            "trace": self.trace.to_json() if self.trace else None,
            "schedule": self.schedule.to_json() if self.schedule else None,
        }
