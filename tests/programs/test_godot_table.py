"""The programs of the paper on awaits: how many executions each technique leaves is known for each of them."""

from __future__ import annotations

import pytest

from benchmarks.godot import COLUMNS, ROWS, Column, Row, measure
from benchmarks.table import ALGORITHMS

FEW, MANY = 20_000, 3_000_000  # executions: what takes less than a second, and what takes a few minutes


def counts(number: str) -> tuple[int, int]:
    """Complete and blocked executions, as the tables write them."""
    complete, _, blocked = number.partition("+")
    return int(complete), int(blocked or 0)


CELLS = [
    (row, column)
    for row in ROWS
    for column in COLUMNS
    if not row.buggy and row.expected(column) != "–" and sum(counts(row.expected(column))) <= MANY
]
SMALL = [cell for cell in CELLS if sum(counts(cell[0].expected(cell[1]))) <= FEW]
LARGE = [cell for cell in CELLS if cell not in SMALL]


def name(value: object) -> str:
    return value.name if isinstance(value, Column) else str(value)


@pytest.mark.parametrize(("row", "column"), SMALL, ids=name)
def test_small(row: Row, column: Column) -> None:
    code = row.load(column)
    for algorithm in ALGORITHMS:
        measured = measure(code, column, algorithm=algorithm)
        assert measured.finished
        assert list(measured.problems(row, column)) == []


@pytest.mark.slow
@pytest.mark.parametrize(("row", "column"), LARGE, ids=name)
def test_large(row: Row, column: Column) -> None:
    measured = measure(row.load(column), column)
    assert measured.finished
    assert list(measured.problems(row, column)) == []


@pytest.mark.slow
def test_the_bug_of_safestack_is_found() -> None:
    [row] = [row for row in ROWS if row.buggy]
    column = COLUMNS[-1]
    assert measure(row.load(column), column).outcome.bug is not None


@pytest.mark.parametrize(("row", "column"), [cell for cell in CELLS if cell[1].purity], ids=name)
def test_there_is_no_more_to_explore_than_in_the_paper(row: Row, column: Column) -> None:
    """Fewer executions, and none blocked where the paper has none."""
    if row.published(column) == "–":
        return
    complete, blocked = counts(row.expected(column))
    paper_complete, paper_blocked = counts(row.published(column))
    assert complete <= paper_complete
    assert complete + blocked <= paper_complete + paper_blocked
    assert paper_blocked or not blocked
