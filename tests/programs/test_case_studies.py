"""The case studies of the paper on safe schedules: what is found about each program, and what it does when it is built
with its schedule. Runs are short, and longer only where the machine is slow; those of a minute are marked as slow."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from benchmarks.constrained import GREP, PROGRAMS, ROUNDS, SEARCHES, TABLE, Row, busy, chosen, useful_iterations
from mazurka.constrained.checker import check
from mazurka.constrained.enforce import build
from mazurka.constraining import FoundSchedules, SafeIteration, UnsafeIteration, find_schedules

LEVELS = (0, 1, 2)
DOUBLE_LOCK = Row("deadlock", "double_lock")
CHECK_OUTSIDE = Row("check-outside", "check_outside")
DECLARED = Row("declared", "file_system_declared")
USEFUL = Row("declared:useful", "file_system_declared", ("USEFUL",))
ROWS = {row.name: row for row in TABLE}


@cache
def found_for(row: Row) -> FoundSchedules:
    outcome = find_schedules(row.path, compiler_arguments=row.options, until=row.until, last_first=row.last_first)
    assert outcome.exit_code == 0
    return outcome


def built(row: Row, folder: Path, level: int | None) -> Path:
    """The program, with its schedule at that level of optimisation, or as it is."""
    program = folder / f"{row.program}-{level}"
    schedule = found_for(row).schedule if level is not None else None
    build([str(row.path)], schedule, program, optimise=level or 0, compiler_arguments=row.options)
    return program


def run(program: Path, seconds: float) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"SECONDS": str(seconds)}
    return subprocess.run([program], env=environment, capture_output=True, text=True, timeout=seconds + 30, check=False)


def counted(program: Path, enough: Callable[[list[float]], bool]) -> list[float]:
    """How often the threads of a program go round in a time that is enough, on this machine as it is now."""
    for seconds in (0.3, 1, 4, 16):
        counts = useful_iterations(seconds, program)
        if enough(counts):
            return counts
    return useful_iterations(60, program)


def each_more_than(least: int, threads: int) -> Callable[[list[float]], bool]:
    return lambda counts: len(counts) == threads and min(counts) > least


def in_turns(counts: list[float]) -> bool:
    return min(counts) > 10 and max(counts) - min(counts) <= max(100, max(counts) // 10)


# ------------------------------------------------------------------------------------------------ what is found


@pytest.mark.parametrize("row", [ROWS["pc:4+4"], DOUBLE_LOCK, CHECK_OUTSIDE, USEFUL, GREP], ids=lambda row: row.name)
def test_the_first_schedule_can_be_proved_again(row: Row) -> None:
    outcome = found_for(row)
    assert outcome.schedule is not None
    assert check(outcome.schedule.proof.model, outcome.schedule) == []


@pytest.mark.parametrize("name", ["pc:1+1", "pc:4+4", "pc:4+4:5", "double-lock", "file-system", "barrier"])
def test_correct_programs_are_safe(name: str) -> None:
    row = ROWS[name]
    outcome = find_schedules(row.path, compiler_arguments=row.options, until="complete", buildable=False)
    assert outcome.verdict == "safe"
    assert all(isinstance(iteration, SafeIteration) for iteration in outcome.iterations)


@pytest.mark.parametrize(("row", "kind"), [(DOUBLE_LOCK, "deadlock"), (CHECK_OUTSIDE, "assertion")])
def test_others_are_safe_under_some_schedules_only(row: Row, kind: str) -> None:
    outcome = find_schedules(row.path, until="complete")
    assert outcome.verdict == "partially safe"
    unsafe = [iteration for iteration in outcome.iterations if isinstance(iteration, UnsafeIteration)]
    assert {iteration.result.bug.kind for iteration in unsafe if iteration.result.bug} == {kind}
    assert outcome.schedule is not None
    assert check(outcome.schedule.proof.model, outcome.schedule) == []


# ------------------------------------------------------------------------------------------------ what it does


def test_what_takes_locks_in_opposite_orders_is_soon_in_a_deadlock(tmp_path: Path) -> None:
    program = built(DOUBLE_LOCK, tmp_path, None)
    assert any("none after" in run(program, seconds).stdout for seconds in (2, 8, 32))


@pytest.mark.parametrize("level", LEVELS)
def test_there_is_no_deadlock_under_the_schedule(level: int, tmp_path: Path) -> None:
    enough = each_more_than(50, threads=2)
    assert enough(counted(built(DOUBLE_LOCK, tmp_path, level), enough))


def test_who_checks_outside_of_the_lock_fails(tmp_path: Path) -> None:
    done = run(built(CHECK_OUTSIDE, tmp_path, None), 60)  # it ends with the first failure
    assert done.returncode != 0
    assert "Assertion `count" in done.stderr


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_fails_under_the_schedule(level: int, tmp_path: Path) -> None:
    enough = each_more_than(0, threads=4)
    assert enough(counted(built(CHECK_OUTSIDE, tmp_path, level), enough))


@pytest.mark.parametrize("level", [1, 2])
def test_all_threads_of_the_file_system_do_useful_work_without_mutexes(level: int, tmp_path: Path) -> None:
    enough = each_more_than(10, threads=3)
    assert enough(counted(built(USEFUL, tmp_path, level), enough))


def test_one_does_none_if_that_is_not_excluded(tmp_path: Path) -> None:
    assert len(counted(built(DECLARED, tmp_path, 1), each_more_than(10, threads=2))) == 2


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("name", ["pc:2+2", "barrier"])
def test_all_threads_get_their_turn(name: str, level: int, tmp_path: Path) -> None:
    assert in_turns(counted(built(ROWS[name], tmp_path, level), in_turns))


@pytest.mark.parametrize("level", LEVELS)
def test_later_schedules_leave_more_to_the_threads(level: int, tmp_path: Path) -> None:
    row = ROWS["pc:2+2"]
    outcome = find_schedules(row.path, compiler_arguments=row.options, until=4)
    first, *_, last = outcome.iterations
    assert isinstance(first, SafeIteration)
    assert isinstance(last, SafeIteration)
    assert len(last.schedule.sections) > len(first.schedule.sections)
    program = tmp_path / "program"
    build([str(row.path)], last.schedule, program, optimise=level, compiler_arguments=row.options)
    enough = each_more_than(10, threads=4)
    assert enough(counted(program, enough))


@pytest.mark.parametrize(
    ("row", "level"), [*((GREP, level) for level in (None, *LEVELS)), *((row, 2) for row in SEARCHES[1:])]
)
def test_grep_finds_what_there_is(row: Row, level: int | None, tmp_path: Path) -> None:
    program = built(row, tmp_path, level)
    names = []
    for number in range(9):
        path = tmp_path / f"file{number}"
        path.write_text(f"{'x' * 100_000}needle" * number)
        names.append(str(path))
    for count in (0, 1, 2, 5, 9):
        done = subprocess.run(
            [program, "needle", *names[:count]], capture_output=True, text=True, timeout=60, check=True
        )
        assert done.stdout == f"{sum(range(count))}\n"


def test_who_of_the_workers_goes_first() -> None:
    turns, other_turns, free = (found_for(row).iterations[-1] for row in SEARCHES)
    for iteration, first in ((turns, "1"), (other_turns, "2")):
        assert isinstance(iteration, SafeIteration)
        assert re.findall(r"work (\d)", "".join(iteration.describe()))[0] == first
        assert {
            len({each.thread for each in iteration.schedule.sections_at(node)}) for node in iteration.schedule.nodes
        } <= {0, 1}
    assert isinstance(free, SafeIteration)
    assert any({each.thread for each in free.schedule.sections_at(node)} >= {1, 2} for node in free.schedule.nodes)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("row", ROUNDS, ids=lambda row: row.name)
def test_all_rounds_are_counted(row: Row, level: int, tmp_path: Path) -> None:
    short = replace(row, macros=("ROUNDS=1000",))
    subprocess.run([built(short, tmp_path, level)], timeout=60, check=True)


# ------------------------------------------------------------------------------------------------ the table


def test_rows_are_chosen_by_name_or_kind() -> None:
    assert [row.name for row in chosen(["pc:1+1", "grep"])] == ["pc:1+1", *(row.name for row in SEARCHES)]
    with pytest.raises(ValueError, match="no row is named 'gre'"):
        list(chosen(["gre"]))


def test_the_table_has_ratios_also_beside_other_work() -> None:
    arguments = ["rounds:free", "--rounds", "100", "--runs", "1", "--busy", "1"]
    script = PROGRAMS.parent / "constrained.py"
    done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, timeout=120, check=True)
    heading, row = done.stdout.splitlines()
    assert heading.split()[0] == "seconds"
    assert re.fullmatch(r"rounds:free +[\d.]+ s +– +([\d.]+ \([\d.]+\) +){3}[\d.]+", row)


def test_other_work_ends_with_what_it_is_beside_of() -> None:
    before = children()
    with busy(2):
        assert len(children() - before) == 2
    assert children() == before


def children() -> set[int]:
    listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
    return {int(number) for number in listed.split()}


# ------------------------------------------------------------------------------------------------ slow


@pytest.mark.slow
@pytest.mark.parametrize("row", [*TABLE, DECLARED], ids=lambda row: row.name)
def test_each_row_of_the_table(row: Row, tmp_path: Path) -> None:
    schedule = found_for(row).schedule
    assert schedule is not None
    assert check(schedule.proof.model, schedule) == []
    for level in (None, *LEVELS):
        assert sum(useful_iterations(2, built(row, tmp_path, level))) > 0


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("row", [DOUBLE_LOCK, CHECK_OUTSIDE, USEFUL], ids=lambda row: row.name)
def test_a_minute_under_the_schedule(row: Row, level: int, tmp_path: Path) -> None:
    assert min(useful_iterations(60, built(row, tmp_path, level))) > 1000


def test_the_programs_are_those_of_the_table() -> None:
    assert {path.stem for path in PROGRAMS.glob("*.c")} == {
        row.program for row in (*TABLE, DOUBLE_LOCK, CHECK_OUTSIDE, USEFUL, GREP, *ROUNDS)
    }
