"""How much faster several threads search: executions per second with `--jobs N` against `--jobs 1`.

    python benchmarks/jobs.py                       the rows of POP's table that take more than 2 s, with 2 jobs
    python benchmarks/jobs.py --jobs 4 poke:10      this one, with 4
    python benchmarks/jobs.py --graphs              execution graphs of these programs, under sc

Both take turns, so that whatever else the machine does is the same for both, and the median of all rounds counts. `by
the clock` is what a user gains; on a machine that others use, too, that is less than there is to gain. `per core` tells
what is lost by working together: executions per second of processor time, against those of one job. Times the number of
jobs, it is what can be gained at best where each of them has a core. A wrong number of executions is an error.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# The folder of this file is where Python looks first, whoever imports it as part of `benchmarks`.
sys.path.append(str(Path(__file__).parent.parent))

from benchmarks import table
from mazurka import _native

ROWS = ["fib-bench:6", "dispatcher:5", "poke:10", "lastzero:17", "exp-mem3:9", "indexer:16", "circular-buffer:10"]

Explore = Callable[[int], "_native.Exploration | _native.GraphExploration"]


@dataclass(frozen=True, slots=True)
class Speed:
    executions: int
    seconds: float
    processor: float


def measure(explore: Explore, jobs: int) -> Speed:
    search = explore(jobs)
    seconds, processor = time.monotonic(), time.process_time()
    search.run()
    seconds, processor = time.monotonic() - seconds, time.process_time() - processor
    complete, blocked, redundant, *_ = search.progress()
    assert search.finished() and search.bug() is None and redundant == 0
    return Speed(complete + blocked, seconds, processor)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--graphs", action="store_true")
    parser.add_argument("names", nargs="*", metavar="program[:N]")
    arguments = parser.parse_args()
    print(f"{'program':24}{'executions':>11}{'1 job s':>9}{f'{arguments.jobs} jobs s':>9}", end="")
    print(f"{'by the clock':>14}{'per core':>10}   ({len(os.sched_getaffinity(0))} cores)")
    for row in table.rows(arguments.names or ROWS, "paper", ["pop"]):
        code = row.load()

        def explore(jobs: int, code: _native.Code = code) -> _native.Exploration | _native.GraphExploration:
            if arguments.graphs:
                return _native.GraphExploration(code, memory="sc", max_steps=table.MAX_STEPS, jobs=jobs)
            return _native.Exploration(code, algorithm="pop", max_steps=table.MAX_STEPS, jobs=jobs)

        ones, manys = [], []
        for _ in range(arguments.rounds):
            ones.append(measure(explore, 1))
            manys.append(measure(explore, arguments.jobs))
        counts = {speed.executions for speed in ones + manys}
        if counts != {row.expected()}:
            print(f"{row}: {counts} executions, not {row.expected()}")
            return 1
        pairs = list(zip(ones, manys, strict=True))
        clock = statistics.median(one.seconds / many.seconds for one, many in pairs)
        core = statistics.median(one.processor / many.processor for one, many in pairs)
        seconds, more = (statistics.median(speed.seconds for speed in speeds) for speeds in (ones, manys))
        print(f"{row!s:24}{row.expected():11}{seconds:9.2f}{more:9.2f}{clock:14.2f}{core:10.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
