"""How much faster several threads search: executions per second with `--jobs N` against `--jobs 1`.

    python benchmarks/jobs.py                       the rows of POP's table that take more than 2 s, with 2 jobs
    python benchmarks/jobs.py --jobs 4 poke:10      this one, with 4
    python benchmarks/jobs.py --graphs              execution graphs of these programs, under sc

Both take turns, so that whatever else the machine does is the same for both, and the median of all rounds counts. `by
the clock` is what a user gains. On a machine that others use, too, that is less than there is to gain: threads wait for
a core. So Linux is asked about each thread. `alone` is what is gained by the clock where each has a core for itself:
the processor time of one job against that of the one of several jobs that had most to do. `idle` is the part of the
time in which the jobs neither had a core nor wanted one, because they had nothing to do. `per core` is executions per
second of processor time, against those of one job: what working together costs. A wrong number of executions is an
error.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# The folder of this file is where Python looks first, whoever imports it as part of `benchmarks`.
sys.path.append(str(Path(__file__).parent.parent))

from benchmarks import table
from mazurka import _native

ROWS = ["fib-bench:6", "dispatcher:5", "poke:10", "exp-mem3:9", "indexer:17", "circular-buffer:10"]

Explore = Callable[[int], "_native.Exploration | _native.GraphExploration"]


@dataclass(frozen=True, slots=True)
class Speed:
    """Seconds: by the clock, and for each thread how long it had a core."""

    executions: int
    seconds: float
    ran: list[float]
    idle: float


def thread_times() -> dict[str, tuple[float, float]]:
    """How long each thread of this process had a core, and how long it waited for one."""
    times = {}
    for thread in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # it has just ended
            ran, waited, _ = (thread / "schedstat").read_text().split()
            times[thread.name] = int(ran) / 1e9, int(waited) / 1e9
    return times


def measure(explore: Explore, jobs: int) -> Speed:
    search = explore(jobs)
    others = thread_times().keys()
    times: dict[str, tuple[float, float]] = {}
    worker = threading.Thread(target=search.run)
    start = time.monotonic()
    worker.start()
    while worker.is_alive():
        times |= thread_times()
        worker.join(0.01)
    seconds = time.monotonic() - start
    workers = [spent for thread, spent in times.items() if thread not in others]
    complete, blocked, redundant, *_ = search.progress()
    assert search.finished() and search.bug() is None and redundant == 0 and len(workers) == jobs
    idle = 1 - sum(ran + waited for ran, waited in workers) / seconds / jobs
    return Speed(complete + blocked, seconds, [ran for ran, _ in workers], max(idle, 0))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--graphs", action="store_true")
    parser.add_argument("names", nargs="*", metavar="program[:N]")
    arguments = parser.parse_args()
    print(f"{'program':24}{'executions':>11}{'1 job s':>9}{f'{arguments.jobs} jobs s':>9}", end="")
    print(f"{'by the clock':>14}{'alone':>8}{'idle':>7}{'per core':>10}   ({len(os.sched_getaffinity(0))} cores)")
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
        alone = statistics.median(one.ran[0] / max(many.ran) for one, many in pairs)
        core = statistics.median(one.ran[0] / sum(many.ran) for one, many in pairs)
        idle = statistics.median(many.idle for many in manys)
        seconds, more = (statistics.median(speed.seconds for speed in speeds) for speeds in (ones, manys))
        print(
            f"{row!s:24}{row.expected():11}{seconds:9.2f}{more:9.2f}{clock:14.2f}{alone:8.2f}{idle:7.1%}{core:10.2f}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
