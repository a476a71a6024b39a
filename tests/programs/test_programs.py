"""The corpus: each program says in its first lines what a check must find. Those in `real` are like real code: queues
that poll, pools, back-off locks, caches; each is right once and wrong once. Those in `cpp` use the C++ library, each
of its facilities in a right and in a wrong way.

// expect: ok              or: bug KIND, or: incomplete KIND (of the limit)
// line: 17                where the bug or the limit is reported
// message: part of it     what the report says
// traces: 6               how many executions there are that differ (complete and blocked)
// alike: 2                how many of them are left if threads that are alike are not told apart
// races: 1                how many data races a program without a bug has (none, if it does not say)
// args: alpha 42          the program's arguments
// options: -DN=3          for the compiler
// files: parts/other.c    more source files
// check: --leaks          options of `mazurka check`, with values as in --nondet=0..3
// engine: stateful        the engine, if it is not left to the program
"""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest

import mazurka
from mazurka import Verdict, _native
from mazurka.leeway import Leeway
from mazurka.machine.lowering import Lowered, lower
from mazurka.options import JUDGING, LEEWAY, SEARCH, chosen, picked
from mazurka.program.symmetry import find_asymmetry
from tests import ROOT
from tests.oracle.oracle import Oracle, TooLarge

PROGRAMS = Path(__file__).parent
EXAMPLES = ROOT / "examples"


@dataclass
class Expectation:
    """What the comments at the head of a program claim."""

    verdict: Verdict = Verdict.OK
    kind: str | None = None
    line: int | None = None
    message: str | None = None
    traces: int | None = None
    alike: int | None = None
    races: int = 0
    arguments: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    switches: dict[str, Any] = field(default_factory=dict)
    engine: str = "auto"

    @property
    def leeway(self) -> Leeway:
        return picked(Leeway, chosen(LEEWAY, self.switches))

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
        assert (verdict == "ok") == (not kind), f"{program}: expect: ok, or: bug KIND, or: incomplete KIND"
        return Expectation(
            verdict=Verdict(verdict),
            kind=kind or None,
            line=int(found["line"]) if "line" in found else None,
            message=found.get("message"),
            traces=int(found["traces"]) if "traces" in found else None,
            alike=int(found["alike"]) if "alike" in found else None,
            races=int(found.get("races", 0)),
            arguments=shlex.split(found.get("args", "")),
            options=shlex.split(found.get("options", "")),
            files=[program.parent / name for name in found.get("files", "").split()],
            switches=dict(map(_switch, found.get("check", "").split())),
            engine=found.get("engine", "auto"),
        )


def _switch(word: str) -> tuple[str, Any]:
    """An option as it is written: a switch, or --option=value."""
    flag, equals, value = word.partition("=")
    option = next(option for option in SEARCH if option.flag == flag)
    assert bool(equals) == (option.values is not None), word
    if flag == "--stdin":
        value = str(PROGRAMS / value)
    return option.keyword, value if equals else not option.default


CORPUS = sorted(
    path
    for folder in (PROGRAMS, PROGRAMS / "real", PROGRAMS / "cpp", PROGRAMS / "exceptions")
    for path in folder.iterdir()
    if path.suffix in {".c", ".cpp"}
)


@pytest.mark.parametrize("program", CORPUS, ids=lambda path: path.name)
def test_program(program: Path) -> None:
    expected = Expectation.read(program)
    result = mazurka.check(
        [program, *expected.files],
        compiler_arguments=expected.options,
        program_arguments=expected.arguments,
        timeout=60,
        engine=expected.engine,
        **expected.switches,
    )
    if expected.kind is None:
        assert result.verdict is Verdict.OK, result.bug or result.reason
        if expected.traces is not None:
            explored = result.executions.complete, result.executions.blocked
            assert sum(result.executions.told_apart or explored) == expected.traces
            assert expected.alike in (None, sum(explored))
        assert len(result.races) == expected.races, "; ".join(map(str, result.races))
        return
    assert result.verdict is expected.verdict, result.bug or result.reason
    found = result.bug or result.limit
    assert found is not None and found.kind == expected.kind
    assert expected.message is None or expected.message in found.message
    if expected.line is not None:
        assert (Path(found.file or "").name, found.line) == (program.name, expected.line)


def _all_bugs(lowered: Lowered, *, symmetry: bool) -> tuple[set[tuple[str, str | None]], int]:
    """What there is of bugs, and of pairs of places in a data race."""
    search = _native.Exploration(
        lowered.code, algorithm="optimal", symmetry=symmetry, keep_going=True, races="warn", max_executions=20_000
    )
    search.run()
    found = [search.bug_at(number) for number in range(search.bug_count())]
    return {(kind, fault) for kind, _, _, fault, _ in found}, search.race_count()


@pytest.mark.parametrize(
    "program", [path for path in CORPUS if path.name.startswith(("alike", "unlike"))], ids=lambda path: path.name
)
def test_threads_that_are_alike_show_the_same_bugs(program: Path) -> None:
    compare_symmetry(program)


@pytest.mark.slow
@pytest.mark.parametrize("program", CORPUS, ids=lambda path: path.name)
def test_threads_that_are_alike_show_the_same_bugs_everywhere(program: Path) -> None:
    if Expectation.read(program).engine != "stateful" and program.name != "choice_of_all.c":
        compare_symmetry(program)


def compare_symmetry(program: Path) -> None:
    expected = Expectation.read(program)
    lowered = lower(
        mazurka.load(
            [program, *expected.files],
            compiler_arguments=expected.options,
            program_arguments=expected.arguments,
            **asdict(expected.leeway),
        )
    )
    if find_asymmetry(lowered.program) is None:
        assert _all_bugs(lowered, symmetry=True) == _all_bugs(lowered, symmetry=False)


@pytest.mark.parametrize(
    "program", [path for path in CORPUS if Expectation.read(path).switches], ids=lambda path: path.name
)
def test_what_c_leaves_open_is_the_same_to_the_other_engine_and_in_a_replay(program: Path) -> None:
    expected = Expectation.read(program)
    for engine in ("stateless", "stateful"):
        result = mazurka.check(
            program, compiler_arguments=expected.options, engine=engine, memory="sc", **expected.switches
        )
        assert (result.bug.kind if result.bug else None) == expected.kind
        if result.schedule is not None:
            judged = {
                option.keyword: expected.switches[option.keyword]
                for option in JUDGING
                if option.keyword in expected.switches
            }
            again = mazurka.replay(program, result.schedule, compiler_arguments=expected.options, **judged)
            assert again.bug == result.bug


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
        [program, *expected.files],
        compiler_arguments=expected.options,
        program_arguments=expected.arguments,
        **asdict(expected.leeway),
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
