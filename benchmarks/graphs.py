"""The explorer of execution graphs on programs of the paper on POP, beside `pop`: how many there are, and how fast.

    python benchmarks/graphs.py                       all of them, under sc and c11
    python benchmarks/graphs.py poke:4 lastzero       these
    python benchmarks/graphs.py --memory c11 poke     under one memory model
    python benchmarks/graphs.py --memory sc --equivalence reads-from

All accesses of these programs are seq_cst, so that every model has the same graphs, which are the classes of
interleavings: another number than that of `pop`, or an exploration in vain, is an error, and the exit status says so.
With `--equivalence reads-from`, each program has a line more: its classes of reads-from under sc, no more than that.
Everything is measured as by `table.py`. Each ratio is to what `pop` needs in the same run; below 1 is faster.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

# The folder of this file is where Python looks first, whoever imports it as part of `benchmarks`.
sys.path.append(str(Path(__file__).parent.parent))

from benchmarks import table
from mazurka import _native

Memory = Literal["sc", "tso", "pso", "ra", "c11"]
Equivalence = Literal["traces", "reads-from"]

SIZES = {
    "fib-bench": 5,
    "linuxrwlocks": 6,
    "filesystem": 24,
    "exp-mem3": 8,
    "lastzero": 15,
    "indexer": 16,
    "dispatcher": 5,
    "poke": 10,
    "length-param": 8196,
}


@dataclass(frozen=True, slots=True)
class Row:
    """One program under a memory model; without one, it is for `pop`."""

    name: str
    n: int
    memory: Memory | None
    equivalence: Equivalence = "traces"

    def __str__(self) -> str:
        return f"{self.name}({self.n})"

    def measure(self) -> table.Measurement:
        row = table.Row(self.name, self.n, "pop")
        if self.memory is None:
            return table.measure_apart(row)
        code, memory = row.load(), self.memory
        return table.measure_in_child(str(self), lambda: explore(code, memory, self.equivalence))

    @property
    def kind(self) -> str:
        return "pop" if self.memory is None else self.memory if self.equivalence == "traces" else "rf"

    def problems(self, found: table.Measurement) -> list[str]:
        if self.equivalence == "reads-from":
            outcome, most = found.outcome, table.Row(self.name, self.n, "pop").expected()
            fits = outcome.finished and outcome.redundant == 0 and outcome.complete + outcome.blocked <= most
            return [] if fits else [f"{outcome}, where there are {most:,} traces"]
        return list(found.outcome.problems(table.Row(self.name, self.n, "pop").expected()))


def explore(code: _native.Code, memory: Memory, equivalence: Equivalence = "traces") -> table.Outcome:
    exploration = _native.GraphExploration(code, memory=memory, equivalence=equivalence, max_steps=table.MAX_STEPS)
    start = time.process_time()
    exploration.run()
    seconds = time.process_time() - start
    complete, blocked, redundant, *_ = exploration.progress()
    bug = exploration.bug()
    return table.Outcome(complete, blocked, redundant, exploration.finished(), bug and bug[0], "graphs", seconds)


def rows(names: Sequence[str], memories: Sequence[Memory], equivalence: Equivalence) -> Iterator[list[Row]]:
    """A name is that of a program, or of a program and its size: `poke`, `poke:15`."""
    for given in names or SIZES:
        name, colon, n = given.partition(":")
        if name not in SIZES or (colon and not n.isdecimal()):
            raise ValueError(f"'{given}' is not a program or program:N; the programs are {', '.join(SIZES)}")
        size = int(n) if colon else SIZES[name]
        coarser = [Row(name, size, "sc", equivalence)] if equivalence == "reads-from" else []
        yield [Row(name, size, memory) for memory in (None, *memories)] + coarser


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", choices=get_args(Memory), action="append", help="this one (default: sc and c11)")
    parser.add_argument("--equivalence", choices=get_args(Equivalence), default="traces", help="reads-from: as well")
    parser.add_argument("names", nargs="*", metavar="program[:N]")
    arguments = parser.parse_args()
    try:
        chosen = list(rows(arguments.names, arguments.memory or ["sc", "c11"], arguments.equivalence))
    except ValueError as error:
        parser.error(str(error))

    right = True
    print(f"{'program':22}{'model':>6}{'executions':>12}{'seconds':>9}{'per second':>12}{'MB':>7}{'ratio':>7}")
    for together in chosen:
        ours = 0.0
        for row in together:
            found = row.measure()
            outcome = found.outcome
            ours = ours or outcome.seconds
            print(
                f"{row!s:22}{row.kind:>6}{outcome.complete + outcome.blocked:12,}{outcome.seconds:9.2f}"
                f"{found.per_second:12,.0f}{found.memory / 2**20:7.1f}{outcome.seconds / ours:7.1f}",
                flush=True,
            )
            for problem in row.problems(found):
                right = False
                print(f"    wrong: {problem}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
