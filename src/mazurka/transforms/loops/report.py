"""What becomes of the loops of a program, as plain values: which of their iterations change nothing, and why."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from mazurka.program.names import demangle
from mazurka.program.program import Program
from mazurka.transforms import eliminate_pure_iterations, make_awaits, use_registers


@dataclass(frozen=True, slots=True)
class PureIteration:
    """An iteration that would change nothing is cut short: where `condition` holds, the thread stays at `file`:`line`.
    It is `awaited` if the access there waits until that changes; else the thread stops for good."""

    condition: str
    file: str | None
    line: int | None
    awaited: bool


@dataclass(frozen=True, slots=True)
class LoopFate:
    """A loop of the source, its iterations that change nothing, and `obstacle`: why there are none, or why there may be
    more of them than these."""

    function: str
    file: str | None
    line: int | None
    idle: tuple[PureIteration, ...]
    obstacle: str | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def explain_loops(program: Program, *, weak: bool = False) -> list[LoopFate]:
    """Do to a valid program what is done before it is checked, and tell what becomes of each loop of its own code.
    `weak` as for `transforms.prepare`."""
    use_registers(program)
    reports = eliminate_pure_iterations(program, awaits=True, weak=weak)
    guards = make_awaits(program, weak=weak)
    fates = []
    for report in reports:
        idle = []
        for condition in report.conditions:
            file, line = (condition.location.file, condition.location.line) if condition.location else (None, None)
            idle.append(PureIteration(condition.text, file, line, condition.awaited or condition.assume in guards))
        file, line = (report.location.file, report.location.line) if report.location else (None, None)
        fates.append(LoopFate(demangle(report.function), file, line, tuple(dict.fromkeys(idle)), report.obstacle))
    return fates
