"""Table 1 of the paper on POP: ten programs, how many executions each has, and how fast they are explored.

    python benchmarks/table.py                                 all of them, in sizes that take seconds
    python benchmarks/table.py --algorithm both --size paper   with both algorithms, in sizes to compare with others
    python benchmarks/table.py poke:15 lastzero:20             these
    python benchmarks/table.py --save-baseline                 what later runs are compared with

The numbers of executions do not depend on the machine: a wrong one, or a single redundant execution, is an error, and
the exit status says so. Speeds do: `ratio` compares with those in `baseline.json`, after dividing both by how fast
Python itself was at the time (and not by the speed of our own machine, which is part of what is measured). Above 1 is
faster. Seconds are processor time of the exploration alone. Memory is what it needs above what the process has before.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import multiprocessing
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from math import comb, factorial, prod
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal, get_args

import mazurka
from mazurka import _native
from mazurka.machine.lowering import Lowered, lower

Algorithm = Literal["pop", "optimal"]
Size = Literal["small", "paper", "large"]

ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)
PROGRAMS = Path(__file__).parent / "pop"
BASELINE = Path(__file__).parent / "baseline.json"

MAX_STEPS = 10_000_000  # an execution of length-param(65536) has a quarter of a million
LEAST_SECONDS = 1.0  # a shorter exploration is repeated, and the fastest one counts
CALIBRATIONS = 5


# ------------------------------------------------------------------------------------------- what is expected


def fib_bench(n: int) -> int:
    """Counted by how an execution can begin: with the next step of any thread, less what this counts twice because two
    such steps are independent, and so on (Cartier and Foata)."""
    threads = (["load i", "load j"], ["load i", "load j", "store i"] * n, ["load j", "load i", "store j"] * n)

    def conflict(x: str, y: str) -> bool:
        return x[-1] == y[-1] and "store" in x + y

    @cache
    def from_here(*done: int) -> int:
        ready = [t for t, steps in enumerate(threads) if done[t] < len(steps)]
        total = 0 if ready else 1
        for size in range(1, len(ready) + 1):
            for first in combinations(ready, size):
                steps = [threads[t][done[t]] for t in first]
                if not any(conflict(x, y) for x, y in combinations(steps, 2)):
                    total -= (-1) ** size * from_here(*(count + (t in first) for t, count in enumerate(done)))
        return total

    return from_here(0, 0, 0)


def linuxrwlocks(n: int) -> int:
    """Whatever happens to the lock word is ordered, and nothing else matters."""

    @cache
    def unlocked(mine: int, yours: int) -> int:
        """`mine` and `yours`: how many rounds are left for each."""
        return locked(mine - 1, yours) + locked(yours - 1, mine) if mine and yours else 1

    @cache
    def locked(mine: int, yours: int) -> int:
        """I hold the lock: next, I unlock it or you fail to get it."""
        return unlocked(mine, yours) + (locked(mine, yours - 1) if yours else 0)

    return unlocked(n, n)


def dispatcher(n: int) -> int:
    return _visits([0, *range(n)], [n - 1, *range(n)], rounds=n)


def poke(n: int) -> int:
    return _visits([0, *range(1, n)], [n - 1, *range(1, n)], rounds=4)


def _visits(first: Sequence[int], later: Sequence[int], rounds: int) -> int:
    """In every round, a visitor goes to the place that was named last. `first` says which places these can be in the
    first round, depending on how many were named when the visitor looked, and `later` in the others, in which the
    place named last may be that of the round before. Each place has one more thread, which comes there once:
    before all visits, after the first, ..."""
    visited = product(first, *[later] * (rounds - 1))
    return sum(prod(visits + 1 for visits in Counter(places).values()) for places in visited)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A program of the table: `executions` says how many there are of each size."""

    executions: Callable[[int], int]
    small: int
    paper: int
    large: int

    def of(self, size: Size) -> int:
        return {"small": self.small, "paper": self.paper, "large": self.large}[size]


BENCHMARKS = {
    "circular-buffer": Benchmark(lambda n: comb(2 * n, n), small=7, paper=8, large=9),
    "fib-bench": Benchmark(fib_bench, small=4, paper=5, large=6),
    "linuxrwlocks": Benchmark(linuxrwlocks, small=5, paper=6, large=7),
    "filesystem": Benchmark(lambda n: 2 ** max(n - 13, 0), small=20, paper=24, large=26),
    "indexer": Benchmark(lambda n: 8 ** max(n - 11, 0), small=13, paper=16, large=17),
    "lastzero": Benchmark(lambda n: (n + 3) * 2**n // 4, small=10, paper=15, large=20),
    "exp-mem3": Benchmark(lambda n: 2 * factorial(n), small=6, paper=8, large=9),
    "dispatcher": Benchmark(dispatcher, small=4, paper=5, large=6),
    "poke": Benchmark(poke, small=4, paper=10, large=15),
    "length-param": Benchmark(lambda n: 4, small=1024, paper=8196, large=65536),
}


# ------------------------------------------------------------------------------------------- what is measured


@dataclass(frozen=True, slots=True)
class Row:
    """One program, explored by one algorithm."""

    name: str
    n: int
    algorithm: Algorithm

    def __str__(self) -> str:
        return f"{self.name}({self.n})"

    def expected(self) -> int:
        return BENCHMARKS[self.name].executions(self.n)

    def load(self) -> _native.Code:
        return self.lowered().code

    def lowered(self) -> Lowered:
        return lower(mazurka.load(PROGRAMS / f"{self.name}.c", compiler_arguments=[f"-DN={self.n}"]))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an exploration said when it came back."""

    complete: int
    blocked: int
    redundant: int
    finished: bool
    bug: str | None
    algorithm: str
    seconds: float

    def problems(self, expected: int) -> Iterator[str]:
        if self.bug is not None:
            yield f"found a bug: {self.bug}"
        elif not self.finished:
            yield "did not finish"
        elif (self.complete, self.blocked) != (expected, 0):
            yield f"{self.complete} + {self.blocked} executions, not {expected} + 0"
        if self.redundant:
            yield f"{self.redundant} redundant executions"


@dataclass(frozen=True, slots=True)
class Measurement:
    """An outcome, and what it took. `speed` is in executions per million rounds of the calibration."""

    outcome: Outcome
    speed: float
    memory: int

    @property
    def per_second(self) -> float:
        return (self.outcome.complete + self.outcome.blocked) / self.outcome.seconds


def explore(code: _native.Code, algorithm: Algorithm) -> Outcome:
    exploration = _native.Exploration(code, algorithm=algorithm, max_steps=MAX_STEPS)
    start = time.process_time()
    exploration.run()
    seconds = time.process_time() - start
    complete, blocked, redundant, *_ = exploration.progress()
    bug = exploration.bug()
    return Outcome(
        complete, blocked, redundant, exploration.finished(), bug and bug[0], exploration.algorithm(), seconds
    )


def measure(explore: Callable[[], Outcome]) -> Measurement:
    """To be called in a process of its own, which has not needed more memory before than it has now."""
    calibration = rounds_per_second()
    before = peak_memory()
    fastest = explore()
    memory = peak_memory() - before
    spent = fastest.seconds
    while fastest.finished and spent < LEAST_SECONDS:
        again = explore()
        spent += again.seconds
        fastest = min(fastest, again, key=lambda outcome: outcome.seconds)
    executions = fastest.complete + fastest.blocked
    return Measurement(fastest, executions / fastest.seconds / calibration * 1e6, memory)


def rounds_per_second() -> float:
    """How fast an interpreter runs here and now."""
    rounds = 500_000

    def seconds() -> float:
        start = time.process_time()
        value = 1
        for _ in range(rounds):
            value = (value * 1103515245 + 12345) & 0x7FFFFFFF
        return time.process_time() - start

    return rounds / min(seconds() for _ in range(CALIBRATIONS))


def peak_memory() -> int:
    """In bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure_apart(row: Row) -> Measurement:
    code = row.load()
    return measure_in_child(str(row), lambda: explore(code, row.algorithm))


def measure_in_child(name: str, explore: Callable[[], Outcome]) -> Measurement:
    """Measure in a child of this process: its peak of memory starts at what it inherits, not at what we ever needed.

    What the loading of the program has freed goes back to the system first: the exploration would use it again, and
    seem to need less than it does.
    """
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)

    def report(sender: Connection) -> None:
        sender.send(measure(explore))

    child = fork.Process(target=report, args=(sender,), daemon=True)
    child.start()
    sender.close()
    try:
        measurement = receiver.recv()
    except EOFError:
        child.join()
        raise SystemExit(f"{name}: the exploration ended with exit status {child.exitcode}") from None
    child.join()
    assert isinstance(measurement, Measurement)
    return measurement


# ------------------------------------------------------------------------------------------- the command


def rows(names: Sequence[str], size: Size, algorithms: Sequence[Algorithm]) -> Iterator[Row]:
    """A name is that of a program, or of a program and its size: `poke`, `poke:15`."""
    for given in names or BENCHMARKS:
        name, colon, n = given.partition(":")
        if name not in BENCHMARKS or (colon and not n.isdecimal()):
            raise ValueError(f"'{given}' is not a program or program:N; the programs are {', '.join(BENCHMARKS)}")
        for algorithm in algorithms:
            yield Row(name, int(n) if colon else BENCHMARKS[name].of(size), algorithm)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithm", choices=[*ALGORITHMS, "both"], default="pop")
    parser.add_argument("--size", choices=get_args(Size), default="small")
    parser.add_argument("--save-baseline", action="store_true", help="keep these speeds to compare later runs with")
    parser.add_argument("names", nargs="*", metavar="program[:N]")
    arguments = parser.parse_args()
    algorithms = ALGORITHMS if arguments.algorithm == "both" else (arguments.algorithm,)
    try:
        chosen = list(rows(arguments.names, arguments.size, algorithms))
    except ValueError as error:
        parser.error(str(error))

    baseline: dict[str, dict[str, float]] = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    right = True
    print(
        f"{'program':24}{'algorithm':14}{'executions':>11}{'redundant':>10}{'seconds':>9}{'per second':>12}"
        f"{'MB':>7}{'ratio':>7}"
    )
    for row in chosen:
        found = measure_apart(row)
        outcome = found.outcome
        known = baseline.setdefault(row.algorithm, {})
        ratio = f"{found.speed / known[str(row)]:.2f}" if str(row) in known else "–"
        # `pop` hands some programs over.
        handed_over = "" if outcome.algorithm == row.algorithm else f", {outcome.algorithm}"
        print(
            f"{row!s:24}{row.algorithm + handed_over:14}{outcome.complete + outcome.blocked:11}{outcome.redundant:10}"
            f"{outcome.seconds:9.3f}{found.per_second:12.0f}{found.memory / 2**20:7.1f}{ratio:>7}",
            flush=True,
        )
        problems = list(outcome.problems(row.expected()))
        for problem in problems:
            print(f"    wrong: {problem}")
        right = right and not problems
        if arguments.save_baseline and not problems:
            known[str(row)] = float(f"{found.speed:.4g}")
    if arguments.save_baseline:
        BASELINE.write_text(json.dumps(baseline, indent=2) + "\n")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
