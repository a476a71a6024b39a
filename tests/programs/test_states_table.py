"""The programs of the paper on commit point completion, and others that never end: whether their bugs are found, and
how many states each reduction visits."""

from __future__ import annotations

import pytest

import mazurka
from benchmarks.states import (
    BROKEN,
    FIGURES,
    LARGE,
    PROGRAMS,
    REDUCTIONS,
    SMALL,
    Measurement,
    Reduction,
    Row,
    chosen,
    problems,
    search,
)
from mazurka import Verdict
from tests import ROOT

EXAMPLES = ROOT / "examples"
MOST_BYTES = 40  # of the table, for each state
# Those that fail may fail in many ways, and the search goes on.
MANY_STATES = {"ticket-lock:2:BROKEN"}


def search_all(row: Row) -> dict[Reduction, Measurement]:
    code = row.load()
    return {reduction: search(code, reduction) for reduction in REDUCTIONS}


def check(row: Row) -> None:
    measured = search_all(row)
    assert all(found.finished for found in measured.values())
    assert list(problems(row, measured)) == []
    assert all(found.bytes_per_state <= MOST_BYTES for found in measured.values() if found.telling)


@pytest.mark.parametrize("row", [row for row in (*FIGURES, *SMALL, *BROKEN) if str(row) not in MANY_STATES], ids=str)
def test_small(row: Row) -> None:
    check(row)


@pytest.mark.slow
@pytest.mark.parametrize("row", [*LARGE, *(row for row in BROKEN if str(row) in MANY_STATES)], ids=str)
def test_large(row: Row) -> None:
    check(row)


def test_a_cycle_that_needs_no_attention_gets_none() -> None:
    """Figure 2: the transaction completes where the thread does not go into the loop."""
    [row] = chosen(["figure2"])
    measured = search_all(row)
    unsound, cpc, cycle_detection = (measured[name] for name in ("unsound", "cpc", "cycle-detection"))
    assert cpc.bugs == {"failure"}
    assert (cpc.states, cpc.transitions) == (unsound.states, unsound.transitions)
    assert cpc.transitions < cycle_detection.transitions


def test_two_cycles_have_one_commit_point() -> None:
    """Figure 9: the other thread is tried before the choice, and not in each loop."""
    [row] = chosen(["figure9"])
    measured = search_all(row)
    assert measured["cpc"].transitions < measured["cycle-detection"].transitions


@pytest.mark.parametrize(
    ("name", "options", "kind"),
    [
        ("philosophers.c", [], None),
        ("philosophers.c", ["-DN=2", "-DDEADLOCK"], "deadlock"),
        ("philosophers.c", ["-DDEADLOCK"], "deadlock"),
        ("driver.c", [], "assertion"),
        ("driver.c", ["-DFIXED"], None),
    ],
)
@pytest.mark.parametrize("reduction", ["cpc", "none"])
def test_example(name: str, options: list[str], kind: str | None, reduction: str) -> None:
    result = mazurka.check(EXAMPLES / name, compiler_arguments=options, engine="stateful", reduction=reduction)
    assert (result.bug.kind if result.bug else None) == kind
    assert result.verdict is (Verdict.BUG if kind else Verdict.OK)


@pytest.mark.parametrize(
    ("program", "options"),
    [
        ("alternating-bit", []),
        ("bakery", []),
        ("bakery", ["-DBROKEN"]),
        ("bluetooth", []),
        ("bluetooth", ["-DFIXED"]),
        ("peterson", []),
        ("peterson", ["-DBROKEN"]),
        ("philosophers", ["-DN=2"]),
        ("philosophers", ["-DDEADLOCK"]),
        ("producer-consumer", []),
        ("ticket-lock", []),
        ("transaction-manager", ["-DN=1"]),
        ("transaction-manager", ["-DN=1", "-DBROKEN"]),
    ],
)
def test_both_engines_agree_if_it_ends(program: str, options: list[str]) -> None:
    path, arguments = PROGRAMS / f"{program}.c", ["-DROUNDS=1", *options]
    stateless = mazurka.check(path, compiler_arguments=arguments, races="ignore")
    stateful = mazurka.check(path, compiler_arguments=arguments, engine="stateful")
    assert stateless.verdict is stateful.verdict
    assert (stateless.bug and stateless.bug.kind) == (stateful.bug and stateful.bug.kind)
