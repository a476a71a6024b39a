"""Tables I and II of the paper on awaits: how many executions the programs have, and what each technique saves.

    python benchmarks/godot.py                              all of them, with at most ten seconds for each number
    python benchmarks/godot.py ttaslock safestack:211       these
    python benchmarks/godot.py --timeout 600 safestack:321  a large one
    python benchmarks/godot.py safestack-bug                how long it takes to find the bug

Five numbers for each program: with no technique but that loops are bounded and those without a body count as
assumptions (`none`), with pure iterations cut short (`purity`), with accesses that wait until what they read compares
as it should (`awaits`), and with updates that commute (`commuting`), as in the paper; and with what Mazurka does unless
told otherwise, which is to wait for any condition (`mazurka`). A number is complete + blocked executions.

These numbers do not depend on the machine. Next to ours stand the paper's; where the two differ, `godot.py` knows which
ones are right for us (docs/benchmarks.md says why), and the exit status says whether all were. Seconds are processor
time of the exploration alone.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import mazurka
from mazurka.deadline import Deadline
from mazurka.engines.outcome import Outcome
from mazurka.engines.stateless import Options, explore
from mazurka.machine.lowering import Lowered, lower
from mazurka.transforms.loops.awaits import make_awaits

PROGRAMS = Path(__file__).parent / "waiting"


@dataclass(frozen=True, slots=True)
class Column:
    """A set of techniques."""

    name: str
    purity: bool = True
    awaits: Literal["none", "simple", "all"] = "all"
    commute: bool = True
    symmetry: bool = False


COLUMNS = (
    Column("none", purity=False, awaits="none", commute=False),
    Column("purity", awaits="none", commute=False),
    Column("awaits", awaits="simple", commute=False),
    Column("commuting", awaits="simple"),
    Column("mazurka"),
)
# Beside the table: what is left if threads that are alike are not told apart.
SYMMETRY = Column("symmetry", symmetry=True)


@dataclass(frozen=True, slots=True)
class Row:
    """A program of some size: the number of threads, or of the operations of each of three threads.

    `paper` are the counts of the first four columns as published ("–": not finished), `ours` what all five are here if
    that is something else, or if the last differs from the one before. `unroll` bounds the loops, `always` in all
    columns: some loops are never pure.
    """

    program: str
    size: str
    paper: str
    ours: str = ""
    unroll: int | None = None
    always: bool = False

    def __str__(self) -> str:
        return f"{self.program}({self.size})"

    @property
    def buggy(self) -> bool:
        return self.program == "safestack-bug"

    def published(self, column: Column) -> str:
        return "–" if column is SYMMETRY else [*self.paper.split(), "–"][COLUMNS.index(column)]

    def expected(self, column: Column) -> str:
        """What the count must be; "–" if it is not known."""
        if column is SYMMETRY:
            return "–"
        counts = (self.ours or self.paper).split()
        return [*counts, counts[-1]][COLUMNS.index(column)]

    def compiler_arguments(self, column: Column) -> Iterator[str]:
        if column.name == "none":
            yield "-DASSUME_SPINS"
        if self.program.startswith("safestack"):
            for thread, operations in zip("ABC", self.size.ljust(3, "0"), strict=True):
                yield f"-D{thread}={operations}"
            if self.size == "331" and not self.buggy:
                yield "-DUNCHECKED"
        else:
            yield f"-DN={self.size}"

    def load(self, column: Column) -> Lowered:
        program = mazurka.load(
            PROGRAMS / f"{self.program.removesuffix('-bug')}.c",
            compiler_arguments=list(self.compiler_arguments(column)),
            purity=column.purity,
            awaits=column.awaits == "all",
            unroll=self.unroll if self.always or column.name == "none" else None,
        )
        if column.awaits == "simple":
            make_awaits(program, simple=True)
        return lower(program)


ROWS = (
    Row("qspinlock", "2", "6+2 6+2 6+2 6+2", ours="6+2 6+2 6+2 6+2 6", unroll=3),
    Row("qspinlock", "3", "564+462 564+462 564+456 564+456", ours="564+462 306+504 306+498 306+498 306+90", unroll=4),
    Row("mcslock", "3", "336+426 336+426 336+72 336+72", ours="336+426 66+102 66 66", unroll=4),
    Row(
        "mcslock", "4", "26232+33432 26232+33432 26232+4824 26232+4824",
        ours="26232+33432 1080+1944 1080 1080", unroll=5,
    ),
    Row("twalock", "3", "96+90 96+90 96 96", unroll=4),
    Row("twalock", "4", "6144+7224 6144+7224 6144 6144", unroll=5),
    Row("mutex-musl", "2", "20+2 20+2 20 20", unroll=2, always=True),
    Row("mutex-musl", "3", "25146+93000 25146+93000 25146+81972 14736+36846", unroll=2, always=True),
    Row("mutex", "2", "12+2 12+2 12 10", unroll=3),
    Row(
        "mutex", "3", "9486+1236 6582+1188 6582+336 3618+312",
        ours="9486+1236 6582+1188 6582+336 3618+312 3618", unroll=4,
    ),
    Row("ms-queue", "3", "901+374 901+374 901+374 901+374", ours="911+406 75+284 75+271 75+271", unroll=2),
    Row(
        "linuxrwlocks", "3", "38033+31993 38033+31993 38033 3840", ours="38033+31993 38033+31993 38033 3840 18",
        unroll=4, always=True,
    ),
    Row("ttaslock", "3", "162+183 36+81 36 36", unroll=4),
    Row("ttaslock", "4", "20760+29440 576+2308 576 576", unroll=5),
    Row("seqlock", "3", "147+230 9+83 9+36 9+36", ours="147+230 9+83 9+36 9+36 9+23", unroll=2),
    Row(
        "seqlock", "4", "87980+104583 88+2769 88+729 88+729",
        ours="87980+104583 88+2769 88+729 88+729 88+454", unroll=3,
    ),
    Row(
        "mpmc-queue", "3", "11206+8188 166+840 166+517 76+421", ours="11206+8188 166+840 166+517 76+421 76+175",
        unroll=4, always=True,
    ),
    Row(
        "mpmc-queue", "4", "– 39706+1123234 39706+360426 5410+114208",
        ours="– 39706+1123234 39706+360426 5410+114208 5410+50102", unroll=4, always=True,
    ),
    Row("treiber-stack", "3", "426 274+80 274+60 274+60", ours="426 18+66 18+37 18+37", unroll=4),
    Row(
        "treiber-stack", "4", "1546168+9216 250088+167916 250088+90896 250088+90896",
        ours="1546168+9216 484+5382 484+1626 484+1626", unroll=5,
    ),
    Row("sortnet", "4", "1+312 1+312 1 1"),
    Row("sortnet", "5", "1+4517 1+4517 1 1"),
    Row("sortnet", "6", "1+38285 1+38285 1 1"),
    Row("sortnet", "7", "– – – –", ours="– – 1 1"),
    Row("sortnet", "8", "– – – –", ours="– – 1 1"),
    Row("safestack", "21", "119+6 34+2 34+1 19+1", unroll=4),
    Row("safestack", "31", "928+107 103+27 103+25 56+25", unroll=4),
    Row("safestack", "32", "7189+296 1073+27 1073+12 463+12", unroll=4),
    Row("safestack", "33", "121334+12652 6434+1636 6434+1584 2600+1160", unroll=4),
    Row(
        "safestack", "211", "1259280+324382 2690+1126 2690+928 962+686",
        ours="1259280+324382 2690+1126 2690+928 962+686 962+530", unroll=5,
    ),
    Row("safestack", "311", "– 0+26536 0+24078 0+14960", ours="– 0+26536 0+24078 0+14960 0+14804", unroll=5),
    Row(
        "safestack", "321", "– 906529+388117 906529+331337 288057+216830",
        ours="– 906529+388117 906529+331337 288057+216830 288057+168601", unroll=5,
    ),
    Row("safestack", "331", "– – – 5772+8521721", ours="– – – 5772+8521721 –", unroll=5),
    Row("safestack-bug", "331", "– – – 2+2453474", unroll=5),
)  # fmt: skip


# ------------------------------------------------------------------------------------------- what is measured


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a search has found, and how long it took."""

    outcome: Outcome[mazurka.Executions]
    seconds: float

    @property
    def executions(self) -> str:
        complete, blocked = self.outcome.coverage.complete, self.outcome.coverage.blocked
        return f"{complete}+{blocked}" if blocked else str(complete)

    @property
    def finished(self) -> bool:
        return self.outcome.reason is None

    def problems(self, row: Row, column: Column) -> Iterator[str]:
        if self.outcome.coverage.redundant:
            yield f"{self.outcome.coverage.redundant} redundant executions"
        if not self.finished:
            return
        if row.buggy:
            if self.outcome.bug is None:
                yield "the bug was not found"
        elif self.outcome.bug is not None:
            yield "there is a bug"
        elif row.expected(column) not in ("–", self.executions):
            yield f"{self.executions} executions, not {row.expected(column)}"


def measure(code: Lowered, column: Column, *, algorithm: str = "pop", timeout: float | None = None) -> Measurement:
    options = Options(
        algorithm=algorithm, commute=column.commute, symmetry=column.symmetry, races="ignore", allow_livelock=True
    )
    start = time.process_time()
    outcome = explore(code, options, Deadline.after(timeout))
    return Measurement(outcome, time.process_time() - start)


# ------------------------------------------------------------------------------------------- the command


def chosen(names: Sequence[str]) -> Iterator[Row]:
    """A name is that of a program, or of a program and its size: `safestack`, `safestack:211`."""
    for name in names or dict.fromkeys(row.program for row in ROWS):
        program, _, size = name.partition(":")
        found = [row for row in ROWS if row.program == program and size in ("", row.size)]
        if not found:
            raise ValueError(f"no row is named '{name}'; there are {', '.join(f'{r.program}:{r.size}' for r in ROWS)}")
        yield from found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithm", choices=["pop", "optimal"], default="pop")
    parser.add_argument(
        "--column", choices=[column.name for column in (*COLUMNS, SYMMETRY)], action="append", help="only this one"
    )
    parser.add_argument("--timeout", type=float, default=10, metavar="SECONDS", help="for each number (default: 10)")
    parser.add_argument("names", nargs="*", metavar="program[:size]")
    arguments = parser.parse_args()
    try:
        rows = list(chosen(arguments.names))
    except ValueError as error:
        parser.error(str(error))

    right = True
    print(f"{'program':20}{'techniques':12}{'executions':>18}{'paper':>18}{'seconds':>10}  algorithm")
    for row in rows:
        for column in (*COLUMNS, SYMMETRY):
            if column.name not in (arguments.column or [each.name for each in COLUMNS]):
                continue
            code = row.load(column)
            measured = measure(code, column, algorithm=arguments.algorithm, timeout=arguments.timeout)
            executions = measured.executions if measured.finished else "–"
            print(
                f"{row!s:20}{column.name:12}{executions:>18}{row.published(column):>18}{measured.seconds:10.2f}"
                f"  {measured.outcome.coverage.algorithm}",
                flush=True,
            )
            problems = list(measured.problems(row, column))
            for problem in problems:
                print(f"    wrong: {problem}")
            right = right and not problems
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
