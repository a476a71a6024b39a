"""What is known of test cases, each and all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mazurka.result import Result, Verdict


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one test case: the result of its check, or why it could not be checked. `complaint` is what the framework has
    printed about the assertion that failed, if one of its own did."""

    name: str
    result: Result | str
    complaint: str | None = None

    @property
    def verdict(self) -> str:
        """As of a check, or "error"."""
        return self.result.verdict.value if isinstance(self.result, Result) else "error"

    @property
    def interrupted(self) -> bool:
        return isinstance(self.result, Result) and "interrupted" in (self.result.reason or "")

    @property
    def seconds(self) -> float:
        return self.result.seconds if isinstance(self.result, Result) else 0.0

    def to_json(self, race_schedules: bool) -> dict[str, Any]:
        if isinstance(self.result, Result):
            return {
                "name": self.name,
                "error": None,
                "complaint": self.complaint,
                **self.result.to_json(race_schedules),
            }
        return {"name": self.name, "error": self.result, "verdict": "error"}


# From worst to best: what the verdict is on all of them, and its exit code.
_VERDICTS = (
    (Verdict.BUG.value, Verdict.BUG.exit_code),
    ("error", 2),
    (Verdict.INCOMPLETE.value, Verdict.INCOMPLETE.exit_code),
    (Verdict.OK.value, Verdict.OK.exit_code),
)


@dataclass(slots=True)
class Outcomes:
    """Of a program with this `framework`, as far as it was checked; `left` are the names of the other test cases."""

    framework: str
    outcomes: list[Outcome] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Of the first that is left."""
        self.outcomes.append(outcome)
        self.left.pop(0)

    @property
    def interrupted(self) -> bool:
        return any(outcome.interrupted for outcome in self.outcomes)

    def count(self, verdict: str) -> int:
        return sum(outcome.verdict == verdict for outcome in self.outcomes)

    @property
    def seconds(self) -> float:
        return sum(outcome.seconds for outcome in self.outcomes)

    @property
    def verdict(self) -> str:
        """A bug of one counts, whatever else there is; they are verified if each of them is."""
        found = {outcome.verdict for outcome in self.outcomes} | ({Verdict.INCOMPLETE.value} if self.left else set())
        return next(verdict for verdict, _ in _VERDICTS if verdict in found)

    @property
    def exit_code(self) -> int:
        return dict(_VERDICTS)[self.verdict]

    def to_json(self, race_schedules: bool = False) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "framework": self.framework,
            "seconds": round(self.seconds, 6),
            "tests": [outcome.to_json(race_schedules) for outcome in self.outcomes],
            "not_checked": self.left,
        }
