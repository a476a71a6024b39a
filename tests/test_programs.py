"""The corpus: each program says in its first lines what a check must find.

// expect: ok              or: bug KIND
// line: 17                where the bug is reported
// message: part of it     what the report says
// traces: 6               how many executions there are that differ (complete and blocked)
// races: 1                how many data races a program without a bug has (none, if it does not say)
// args: alpha 42          the program's arguments
// options: -DN=3          for the compiler
// files: parts/other.c    more source files
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import mazurka
from mazurka import Verdict, _native
from mazurka.transforms.lowering import lower
from tests.oracle.oracle import Oracle, TooLarge

PROGRAMS = Path(__file__).parent / "programs"
EXAMPLES = Path(__file__).parent.parent / "examples"


@dataclass
class Expectation:
    """What the comments at the head of a program claim."""

    kind: str | None = None
    line: int | None = None
    message: str | None = None
    traces: int | None = None
    races: int = 0
    arguments: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    @staticmethod
    def read(program: Path) -> Expectation:
        found: dict[str, str] = {}
        for text in program.read_text().splitlines():
            if not text.startswith("//"):
                break
            key, colon, value = text.removeprefix("//").strip().partition(":")
            if colon and " " not in key:
                found[key] = value.strip()
        verdict, _, kind = found["expect"].partition(" ")
        assert verdict == ("bug" if kind else "ok"), f"{program}: expect: ok, or: bug KIND"
        return Expectation(
            kind=kind or None,
            line=int(found["line"]) if "line" in found else None,
            message=found.get("message"),
            traces=int(found["traces"]) if "traces" in found else None,
            races=int(found.get("races", 0)),
            arguments=shlex.split(found.get("args", "")),
            options=shlex.split(found.get("options", "")),
            files=[program.parent / name for name in found.get("files", "").split()],
        )


CORPUS = sorted(path for path in PROGRAMS.iterdir() if path.suffix in {".c", ".cpp"})


@pytest.mark.parametrize("program", CORPUS, ids=lambda path: path.name)
def test_program(program: Path) -> None:
    expected = Expectation.read(program)
    result = mazurka.check(
        [program, *expected.files],
        compiler_arguments=expected.options,
        program_arguments=expected.arguments,
        timeout=60,
    )
    if expected.kind is None:
        assert result.verdict is Verdict.OK, result.bug or result.reason
        if expected.traces is not None:
            assert result.executions.complete + result.executions.blocked == expected.traces
        assert len(result.races) == expected.races, "; ".join(map(str, result.races))
        return
    assert result.verdict is Verdict.BUG and result.bug is not None, result.reason
    assert result.bug.kind == expected.kind
    assert expected.message is None or expected.message in result.bug.message
    if expected.line is not None:
        assert (Path(result.bug.file or "").name, result.bug.line) == (program.name, expected.line)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("lost_update.c", "assertion"),
        ("lock_order.c", "deadlock"),
        ("use_after_free.c", "memory"),
        ("queue.c", None),
        ("parcel.c", "livelock"),
    ],
)
def test_example(name: str, kind: str | None) -> None:
    result = mazurka.check(EXAMPLES / name)
    assert (result.bug.kind if result.bug else None) == kind
    assert result.verdict is (Verdict.BUG if kind else Verdict.OK)


@pytest.mark.parametrize("program", CORPUS, ids=lambda path: path.name)
def test_the_oracle_agrees(program: Path) -> None:
    """Where a program is small enough, both algorithms explore each of its classes exactly once."""
    expected = Expectation.read(program)
    loaded = mazurka.load(
        [program, *expected.files], compiler_arguments=expected.options, program_arguments=expected.arguments
    )
    lowered = lower(loaded)
    try:
        outcomes = list(Oracle(lowered).traces(limit=800).values())
    except TooLarge:
        return
    blocked = sum(outcome.status == "blocked" for outcome in outcomes)
    for algorithm in ("pop", "optimal"):
        exploration = _native.Exploration(lowered.code, algorithm=algorithm, keep_going=True)
        exploration.run()
        assert exploration.progress()[:3] == (len(outcomes) - blocked, blocked, 0)
