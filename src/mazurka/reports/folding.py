"""Rounds of loops that look alike, to be told once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

# A round of more steps than that is not recognised.
_LONGEST_ROUND = 24


@dataclass(frozen=True, slots=True)
class Run:
    """So many `rounds` of `period` elements each, from the element at `start` on, that have the same keys."""

    start: int
    period: int
    rounds: int = 1

    @property
    def end(self) -> int:
        return self.start + self.period * self.rounds


def fold(keys: Sequence[Hashable]) -> list[Run]:
    """Cut a sequence into runs, one after the other: where something is repeated so often that at least two elements
    need not be told, all rounds of it, and what is between such runs, as one round."""
    runs: list[Run] = []
    single = position = 0
    while position < len(keys):
        best = max((_repeated(keys, position, period) for period in range(1, _LONGEST_ROUND + 1)), key=_saved)
        if _saved(best) < 2:
            position += 1
            continue
        if single < position:
            runs.append(Run(single, position - single))
        runs.append(best)
        single = position = best.end
    if single < len(keys):
        runs.append(Run(single, len(keys) - single))
    return runs


def _repeated(keys: Sequence[Hashable], start: int, period: int) -> Run:
    end = start + period
    while end < len(keys) and keys[end] == keys[end - period]:
        end += 1
    return Run(start, period, max(1, (end - start) // period))


def _saved(run: Run) -> int:
    """How many elements need not be told; of the same number, a shorter round is better."""
    return run.period * (run.rounds - 1)
