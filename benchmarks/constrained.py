"""Tables 1 to 3 of the paper on safe schedules: how long it takes to find one, and what it costs to keep to it.

    python benchmarks/constrained.py                            the tables, medians of five runs
    python benchmarks/constrained.py barrier pc:1+1             these rows
    python benchmarks/constrained.py grep rounds                all rows of these kinds
    python benchmarks/constrained.py --runs 1 --seconds 0.5     faster, and less reliable
    python benchmarks/constrained.py --no-complete              without complete verification, which can take long
    python benchmarks/constrained.py grep --megabytes 100       the search in 8 files of 100 MB each
    python benchmarks/constrained.py --busy 4                   beside four loops that keep the machine busy
    python benchmarks/constrained.py --run-with "chrt -r 1"     before everybody else, on a machine that has more to do

What is counted are useful iterations: those in which a thread got something done, such as an item produced
(`schedules/useful.h`). More is better. They are those of the program as it is, and under the first schedule that is
found, enforced with the optimisations 0, 1 and 2. Runs of the four take turns, so that whatever else the machine does
meanwhile affects all of them; the ratio to the program as it is says more than the number.

Programs that end are measured by the time that they take, and less is better: a search in files (`grep`) and threads
that take one lock again and again (`rounds`), each under several schedules.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from mazurka.constrained.enforce import build
from mazurka.constrained.plan import ProgramSchedule
from mazurka.constraining import find_schedules

PROGRAMS = Path(__file__).parent / "schedules"
FILES = 8
TEXT = "mazurka"
LEVELS = (0, 1, 2)  # of optimisation
VARIANTS = (*LEVELS, None)  # None: as it is


@dataclass(frozen=True, slots=True)
class Row:
    """A program, its macros, and what the paper has for it: the times of the first schedule and of complete
    verification, and for each variant the useful iterations, or the seconds of a run if the program ends. The schedule
    is the last one of the iterations up to `until`, of a search as `last_first` says (see `find_schedules`)."""

    name: str
    program: str
    macros: tuple[str, ...] = ()
    paper_first: str = ""
    paper_complete: str = ""
    paper: tuple[float | None, ...] | None = None
    until: int = 1
    last_first: bool = False
    ends: bool = False

    @property
    def path(self) -> Path:
        return PROGRAMS / f"{self.program}.c"

    @property
    def options(self) -> list[str]:
        return [f"-D{macro}" for macro in self.macros]


def producers_consumers(count: int, size: int, first: str, complete: str, paper: tuple[int, int, int, int]) -> Row:
    macros = (f"PRODUCERS={count}", f"CONSUMERS={count}", f"SIZE={size}")
    name = f"pc:{count}+{count}" + ("" if size == 1000 else f":{size}")
    return Row(name, "producer_consumer", macros, first, complete, paper)


TABLE = (
    producers_consumers(1, 1000, "2 min", "> 72 h", (4864489, 7466093, 11370258, 8199202)),
    producers_consumers(2, 1000, "24 min", "> 72 h", (3400187, 5959041, 8428598, 11643208)),
    producers_consumers(4, 1000, "4.5 h", "> 72 h", (1327063, 2576695, 3676876, 7210796)),
    producers_consumers(1, 5, "2 s", "148 s", (4945116, 7075596, 12372817, 7915465)),
    producers_consumers(2, 5, "18 s", "76 s", (3194019, 5514429, 9271859, 6933172)),
    producers_consumers(4, 5, "161 s", "584 s", (1345991, 2465108, 3392111, 3240136)),
    Row("double-lock", "double_lock", ("CORRECT",), "0 s", "0 s", (1845, 1834, 3217, 1797)),
    Row("file-system", "file_system", (), "0 s", "0 s", (3667, 4877035, 6705672, 23822129)),
    Row("barrier", "barrier", (), "1 s", "254 s", (1238720, 8285228, 14586849, 1077907)),
)
# Two workers that search files which a third thread hands out: in turns, in turns of which the other one has the first,
# and whoever is free takes the next file (the paper's S1, S2 and S4).
GREP = Row("grep:turns", "grep", paper=(None, 3.34, None, 3.25), ends=True)
SEARCHES = (
    GREP,
    replace(GREP, name="grep:turns-2", last_first=True),
    replace(GREP, name="grep:free", until=5, paper=(None, 3.57, None, 3.25)),
)
# In turns, and whoever comes first takes the lock.
ROUNDS = (Row("rounds:turns", "rounds", ends=True), Row("rounds:free", "rounds", until=3, ends=True))
ROWS = (*TABLE, *SEARCHES, *ROUNDS)


# ------------------------------------------------------------------------------------------- what is measured


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Let other processes compute meanwhile."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def build_all(row: Row, schedule: ProgramSchedule, folder: Path) -> list[Path]:
    """All variants of the program."""
    programs = []
    for level in VARIANTS:
        programs.append(folder / f"{row.program}-{'free' if level is None else level}")
        woven, optimise = (None, 0) if level is None else (schedule, level)
        build([str(row.path)], woven, programs[-1], optimise=optimise, compiler_arguments=row.options)
    return programs


def medians(programs: Sequence[Path], runs: int, measure: Callable[[Path], float]) -> list[float]:
    measured = [[measure(program) for program in programs] for _ in range(runs)]
    return [statistics.median(values) for values in zip(*measured, strict=True)]


def useful_iterations(seconds: float, program: Path, run_with: Sequence[str] = ()) -> list[float]:
    """Run a program that counts them for some time: how many each of its threads had in exactly that time."""
    done = subprocess.run(
        [*run_with, program],
        env=os.environ | {"SECONDS": str(seconds)},
        capture_output=True,
        text=True,
        timeout=seconds + 30,
        check=False,
    )
    found = re.fullmatch(r"useful iterations: \d+ = ([\d +]+) in ([\d.]+) s(, none after .*)?\n", done.stdout)
    if done.returncode != 0 or found is None:
        raise RuntimeError(f"{program.name}: exit code {done.returncode}: {done.stdout}{done.stderr}")
    return [int(count) * seconds / float(found[2]) for count in found[1].split("+")]


def iterations(run_with: Sequence[str], seconds: float, program: Path) -> float:
    return sum(useful_iterations(seconds, program, run_with))


def seconds_of(run_with: Sequence[str], arguments: Sequence[str], program: Path) -> float:
    start = time.monotonic()
    subprocess.run([*run_with, program, *arguments], stdout=subprocess.DEVNULL, timeout=600, check=True)
    return time.monotonic() - start


def files_to_search(folder: Path, megabytes: float) -> list[str]:
    """Random content."""
    generator = random.Random(1)
    names = []
    for number in range(FILES):
        path = folder / f"file{number}"
        path.write_bytes(generator.randbytes(int(megabytes * 1e6)))
        names.append(str(path))
    return names


# ------------------------------------------------------------------------------------------- the command


def find(row: Row, arguments: argparse.Namespace) -> tuple[ProgramSchedule, str, str]:
    """The schedule, how long it took to find it, and how long it takes to verify the program completely."""
    found = find_schedules([str(row.path)], compiler_arguments=row.options, until=row.until, last_first=row.last_first)
    if found.schedule is None or found.reason is not None:
        raise RuntimeError(f"{row.name}: no schedule found")
    complete = complete_in_words(row, arguments.timeout) if arguments.complete and not row.ends else "–"
    return found.schedule, f"{found.iterations[-1].seconds:.1f} s", complete


def complete_in_words(row: Row, timeout: float) -> str:
    outcome = find_schedules(
        [str(row.path)], compiler_arguments=row.options, until="complete", timeout=timeout, buildable=False
    )
    if outcome.verdict is None:
        return f"> {outcome.seconds:.0f} s"
    return f"{outcome.seconds:.1f} s" + ("" if outcome.verdict == "safe" else f" ({outcome.verdict}!)")


def measured(row: Row, schedule: ProgramSchedule, arguments: argparse.Namespace) -> list[float]:
    """The useful iterations of the variants, or the seconds that they take."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        programs = build_all(row, schedule, folder)
        measure = partial(iterations, arguments.run_with, arguments.seconds)
        if row.ends:
            files = [TEXT, *files_to_search(folder, arguments.megabytes)] if row.program == "grep" else []
            measure = partial(seconds_of, arguments.run_with, files)
        with busy(arguments.busy):
            return medians(programs, arguments.runs, measure)


def print_heading(what: str) -> None:
    headings = "".join(f"{f'optimise {level}':>21}" for level in LEVELS)
    print(f"{what:20}{'schedule':>9}{'complete':>10}{headings}{'as it is':>14}")


def print_row(name: str, first: str, complete: str, values: Sequence[float | None]) -> None:
    *constrained, free = values
    assert free is not None
    number = ",.0f" if free >= 100 else ".3f"
    cells = ["–" if value is None else f"{value:{number}} ({value / free:.2f})" for value in constrained]
    print(f"{name:20}{first:>9}{complete:>10}" + "".join(f"{cell:>21}" for cell in cells) + f"{free:>14{number}}")


def chosen(names: Sequence[str]) -> Iterator[Row]:
    """The rows of these names, or of these kinds: what stands before a colon."""
    for name in names:
        found = [row for row in ROWS if row.name == name] or [row for row in ROWS if row.name.startswith(f"{name}:")]
        if not found:
            raise ValueError(f"no row is named '{name}'; there are {', '.join(row.name for row in ROWS)}")
        yield from found
    if not names:
        yield from ROWS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="of which the median is shown (default: 5)")
    parser.add_argument("--seconds", type=float, default=2, help="of each run that counts iterations (default: 2)")
    parser.add_argument("--no-complete", dest="complete", action="store_false", help="do not verify completely")
    parser.add_argument("--timeout", type=float, default=600, help="of complete verification (default: 600 s)")
    parser.add_argument("--megabytes", type=float, default=25, help="of each file for grep (default: 25)")
    parser.add_argument("--rounds", type=int, default=1_000_000, help="of each thread of rounds (default: a million)")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="measure beside N busy loops (default: none)")
    parser.add_argument("--run-with", type=str.split, default=[], metavar="COMMAND", help="run programs with a command")
    parser.add_argument("names", nargs="*", metavar="row")
    arguments = parser.parse_args()
    try:
        rows = list(chosen(arguments.names))
    except ValueError as error:
        parser.error(str(error))

    heading = None
    for row in rows:
        if row.program == "rounds":
            row = replace(row, macros=(f"ROUNDS={arguments.rounds}",))
        what = "seconds" if row.ends else f"in {arguments.seconds:g} seconds"
        if what != heading:
            print_heading(what)
            heading = what
        schedule, first, complete = find(row, arguments)
        print_row(row.name, first, complete, measured(row, schedule, arguments))
        if row.paper is not None:
            print_row("  the paper", row.paper_first, row.paper_complete, row.paper)
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
