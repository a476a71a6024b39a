"""What there is under weak memory models only: reads of what others have overwritten, with where the value came from
and which writes the read does not see; and writes that are overwritten by an earlier step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mazurka.executions.schedule import Reading, Schedule

if TYPE_CHECKING:
    from mazurka._native import Operation

_WRITES = ("store", "update", "compare-exchange")


@dataclass(frozen=True, slots=True)
class Older:
    """Of a read, by their indices among the operations: the write of its value, None if that was there at the start,
    and those that came between the two."""

    source: int | None
    unseen: tuple[int, ...]

    @property
    def writes(self) -> tuple[int, ...]:
        return (() if self.source is None else (self.source,)) + self.unseen


def older_reads(operations: Sequence[Operation], schedule: Schedule) -> dict[int, Older]:
    """What is read that way, by the indices of the operations that read it."""
    if schedule.is_interleaving:
        return {}
    found: dict[int, Older] = {}
    for index, operation in enumerate(operations):
        if operation.read is None or not 0 < operation.step <= len(schedule.steps):
            continue
        for read in schedule.steps[operation.step - 1].reads:
            if not _overlap(operation, read):
                continue
            there = [each for each, other in enumerate(operations) if writes_to(other, read)]
            wrote = [each for each in there if operations[each].step == read.source + 1] if read.source >= 0 else []
            unseen = [each for each in there if read.source + 1 < operations[each].step < operation.step]
            found[index] = Older(wrote[-1] if wrote else None, tuple(unseen))
    return found


def overwritten_at_end(operations: Sequence[Operation], schedule: Schedule) -> dict[int, int]:
    """The writes that steps before them overwrite, each with the index of such a one."""
    found: dict[int, int] = {}
    for read in schedule.end:
        there = [index for index, operation in enumerate(operations) if writes_to(operation, read)]
        source = [index for index in there if operations[index].step == read.source + 1]
        if source:
            found |= {index: source[-1] for index in there if operations[index].step > read.source + 1}
    return found


def writes_to(operation: Operation, read: Reading) -> bool:
    """Whether an operation writes what is read."""
    return operation.written is not None and operation.kind in _WRITES and _overlap(operation, read)


def _overlap(operation: Operation, read: Reading) -> bool:
    return operation.address < read.address + read.size and read.address < operation.address + max(operation.size, 1)
