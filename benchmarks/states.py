"""Table 1 of the paper on commit point completion: how many states each reduction visits, and how fast.

    python benchmarks/states.py                           the table, with at most a minute for each number
    python benchmarks/states.py figures philosophers:6    these rows
    python benchmarks/states.py --reduction cpc small     smaller programs, with this reduction only
    python benchmarks/states.py broken                    programs with a bug

The programs never end (`endless/`). Four numbers for each: with the `unsound` reduction, which can miss bugs and is a
lower bound for the others, with commit point completion (`cpc`), with `cycle-detection`, and with none. The search
goes on after a bug, so that numbers do not depend on where one is.

The paper says nothing of the sizes of its programs, so that its numbers, next to ours, only show the proportions. What
must hold: every reduction but the unsound one gives the same verdict, the right one; unsound ≤ cpc ≤ none; and cpc <
cycle-detection where loops end in a nondeterministic way. The exit status says whether it did.

Seconds are processor time of the search alone, and what is counted per second are states. `bytes` is the size of the
table by the number of states.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import mazurka
from mazurka import _native
from mazurka.deadline import Deadline
from mazurka.engines.running import run
from mazurka.engines.stateful import PAUSE_AFTER, default_memory_limit
from mazurka.machine.lowering import lower

Reduction = Literal["unsound", "cpc", "cycle-detection", "none"]
Bug = Literal["failure", "deadlock"]

REDUCTIONS: tuple[Reduction, ...] = get_args(Reduction)
PROGRAMS = Path(__file__).parent / "endless"
LEAST_SECONDS = 0.5  # a shorter search is repeated, and the fastest one counts


# ------------------------------------------------------------------------------------------- what is expected


@dataclass(frozen=True, slots=True)
class Row:
    """A program of some size, in some variant (a macro of the program).

    `bugs` are the kinds that it has, of which the unsound reduction finds none if they are `ignored`. `paper` are the
    states of the first three reductions as published, for a program of this kind. `nondeterministic`: there are
    loops that end in a nondeterministic way after a transaction has committed.
    """

    program: str
    size: int | None = None
    variant: str = ""
    bugs: tuple[Bug, ...] = ()
    ignored: bool = False
    paper: tuple[int, int, int] | None = None
    nondeterministic: bool = False

    def __str__(self) -> str:
        return ":".join(part for part in (self.program, str(self.size or ""), self.variant) if part)

    def expected(self, reduction: Reduction) -> set[Bug]:
        return set() if self.ignored and reduction == "unsound" else set(self.bugs)

    def published(self, reduction: Reduction) -> str:
        return str(self.paper[REDUCTIONS.index(reduction)]) if self.paper and reduction != "none" else ""

    def load(self) -> _native.Code:
        macros = [f"-DN={self.size}"] if self.size is not None else []
        macros += [f"-D{self.variant}"] if self.variant else []
        program = mazurka.load(
            PROGRAMS / f"{self.program}.c", compiler_arguments=macros, purity=False, awaits=False, unroll=None
        )
        return lower(program).code


FIGURES = (
    Row("figure1", bugs=("failure",), ignored=True),
    Row("figure2", bugs=("failure",)),
    Row("figure3", bugs=("failure",), ignored=True),
    Row("figure9", bugs=("failure",), ignored=True),
)
PETERSON = Row("peterson", paper=(1080, 1213, 3427), nondeterministic=True)
SMALL = (
    Row("conc", 2, nondeterministic=True),
    PETERSON,
    Row("bluetooth", 2, "FIXED", nondeterministic=True),
    Row("transaction-manager", 1),
    Row("alternating-bit", 1),
    Row("philosophers", 3, nondeterministic=True),
    Row("bakery", 2),
    Row("ticket-lock", 2),
    Row("producer-consumer", 1),
)
LARGE = (
    Row("conc", 4, paper=(512, 512, 2063), nondeterministic=True),
    PETERSON,
    Row("bluetooth", 3, "FIXED", paper=(48109, 52092, 116559), nondeterministic=True),
    Row("transaction-manager", 2, paper=(1220517, 1264894, 1268571)),
    Row("alternating-bit", 2, paper=(1180, 1180, 1349)),
    Row("philosophers", 6, paper=(87399, 87399, 428896), nondeterministic=True),
    Row("bakery", 4, paper=(10221, 14935, 14254)),
    Row("ticket-lock", 3),
    Row("producer-consumer", 3),
)
# With a bug, to see that it is found.
BROKEN = (
    Row("conc", 1, "BROKEN", bugs=("deadlock", "failure")),
    Row("peterson", None, "BROKEN", bugs=("failure",), nondeterministic=True),
    Row("bluetooth", 2, bugs=("failure",), nondeterministic=True),
    Row("transaction-manager", 1, "BROKEN", bugs=("failure",)),
    Row("alternating-bit", 1, "BROKEN", bugs=("failure",)),
    Row("philosophers", 3, "DEADLOCK", bugs=("deadlock",), nondeterministic=True),
    Row("bakery", 2, "BROKEN", bugs=("failure",)),
    Row("producer-consumer", 2, "BROKEN", bugs=("failure",)),
    Row("ticket-lock", 2, "BROKEN", bugs=("failure",)),
)
GROUPS = {"figures": FIGURES, "small": SMALL, "large": LARGE, "broken": BROKEN}


# ------------------------------------------------------------------------------------------- what is measured


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a search has found, and what it took."""

    finished: bool
    states: int
    transitions: int
    bugs: frozenset[str]
    seconds: float
    table_bytes: int

    @property
    def telling(self) -> bool:
        """Whether there are enough states to measure speed and memory."""
        return self.states >= 10_000

    @property
    def per_second(self) -> float:
        return self.states / self.seconds

    @property
    def bytes_per_state(self) -> float:
        return self.table_bytes / self.states


def measure(code: _native.Code, reduction: Reduction, *, timeout: float | None = None) -> Measurement:
    fastest = search(code, reduction, timeout)
    spent = fastest.seconds
    while fastest.finished and spent < LEAST_SECONDS:
        again = search(code, reduction, timeout)
        spent += again.seconds
        fastest = min(fastest, again, key=lambda measurement: measurement.seconds)
    return fastest


def search(code: _native.Code, reduction: Reduction, timeout: float | None = None) -> Measurement:
    states = _native.StateSearch(
        code,
        reduction=reduction,
        keep_going=True,
        max_memory=default_memory_limit(),
        pause_after=PAUSE_AFTER,
    )
    start = time.process_time()
    run(states, Deadline.after(timeout), None)
    seconds = time.process_time() - start
    visited, transitions, *_ = states.progress()
    bugs = frozenset(kind for kind, _ in states.bugs())
    return Measurement(states.finished(), visited, transitions, bugs, seconds, states.table_bytes())


def problems(row: Row, measured: Mapping[Reduction, Measurement]) -> Iterator[str]:
    """What must hold and does not, as far as the searches came to an end."""
    finished = {reduction: found for reduction, found in measured.items() if found.finished}
    for reduction, found in finished.items():
        if found.bugs != row.expected(reduction):
            yield f"{reduction}: {bugs_in_words(found.bugs)} found, not {bugs_in_words(row.expected(reduction))}"
    order: list[tuple[Reduction, Reduction, int]] = [("unsound", "cpc", 0), ("cpc", "none", 0)]
    if row.nondeterministic:
        order.append(("cpc", "cycle-detection", 1))
    for fewer, more, least in order:
        if {fewer, more} <= finished.keys() and finished[more].states - finished[fewer].states < least:
            yield f"{'not fewer' if least else 'more'} states with {fewer} than with {more}"


def bugs_in_words(bugs: Iterable[str]) -> str:
    return " and ".join(sorted(bugs)) or "no bug"


# ------------------------------------------------------------------------------------------- the command


def chosen(names: Sequence[str]) -> Iterator[Row]:
    """A name is that of a group of rows, of a program, or of a program of some size and variant: `figures`,
    `philosophers`, `philosophers:6`, `philosophers:3:DEADLOCK`."""
    rows = list(dict.fromkeys(row for group in GROUPS.values() for row in group))
    for name in names:
        found = GROUPS.get(name) or [row for row in rows if name in (row.program, str(row))]
        if not found:
            raise ValueError(f"no row is named '{name}'; there are {', '.join([*GROUPS, *map(str, rows)])}")
        yield from found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reduction", choices=REDUCTIONS, action="append", help="only this one")
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS", help="for each number (default: 60)")
    parser.add_argument("names", nargs="*", metavar="program[:size[:variant]]")
    arguments = parser.parse_args()
    try:
        rows = list(chosen(arguments.names or ["figures", "large"]))
    except ValueError as error:
        parser.error(str(error))

    right = True
    print(
        f"{'program':30}{'reduction':17}{'states':>11}{'paper':>9}{'transitions':>13}{'seconds':>9}{'per second':>12}"
        f"{'bytes':>7}  bugs"
    )
    for row in rows:
        code = row.load()
        measured: dict[Reduction, Measurement] = {}
        for reduction in REDUCTIONS:
            if arguments.reduction and reduction not in arguments.reduction:
                continue
            found = measured[reduction] = measure(code, reduction, timeout=arguments.timeout)
            states = str(found.states) if found.finished else f"> {found.states}"
            rate, room = (f"{found.per_second:.0f}", f"{found.bytes_per_state:.1f}") if found.telling else ("–", "–")
            print(
                f"{row!s:30}{reduction:17}{states:>11}{row.published(reduction):>9}{found.transitions:13}"
                f"{found.seconds:9.3f}{rate:>12}{room:>7}  {bugs_in_words(found.bugs)}",
                flush=True,
            )
        for problem in problems(row, measured):
            print(f"    wrong: {problem}")
            right = False
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
