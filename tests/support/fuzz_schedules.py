"""Random programs, built with their schedules and run: what the schedule promises must hold.

For tests, and by hand: python -m tests.support.fuzz_schedules --seed 0 --count 1000 --levels 0,1,2 --until 1,3

A program goes all the way of a user: its schedules are looked for, proved again, built at each level, and run several
times with other inputs and other delays. What it does is compared with what the proof says. That is sound whatever the
program, since each round of each loop of each thread is counted in a native run: a thread that goes on for ever goes
round for ever, as nothing else in a program can take for ever.

- A proof that has no cycle promises that the program ends.
- Otherwise some thread goes on for ever, so not all of them can have stopped to go round.
- A thread that takes part in every cycle of the proof goes on for ever, unless it has ended. If another has gone round
  many times in the second half of the run and this one has not, it starves. (Cycles in which it has ended, or does not
  exist yet, do not count if the native program says that it has begun and has not ended.)
- If only one thread may run at each node, the program has no choice but its inputs: for equal inputs, the threads read
  the same values at all levels, and the program prints what it prints in the virtual machine.

What looks wrong because of a slow machine is tried again with more time.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path

from mazurka.constrained import load_model
from mazurka.constrained.checker import check
from mazurka.constrained.enforce import build
from mazurka.constrained.follow import Departure, follow
from mazurka.constrained.model import Rest
from mazurka.constrained.plan import ProgramSchedule
from mazurka.constrained.proof import Proof
from mazurka.constraining import SafeIteration, Until, find_schedules
from mazurka.errors import MazurkaError
from tests.oracle.schedule_generator import MOST_THREADS, OUT_OF_TIME, Program, generate

LEVELS = (0, 1, 2)

LEFT, ASSUMPTION = 70, 71  # statuses of a program that was built

# Milliseconds that a native run may take; then again, to be sure.
_LIMITS = (300, 2000, 6000)
# Rounds of each thread that are enough, and of another thread that show that one of them starves.
_ENOUGH, _MANY = 200, 100


@dataclass(frozen=True)
class Settings:
    levels: tuple[int, ...] = LEVELS
    until: tuple[Until, ...] = (1,)
    runs: int = 3
    search_seconds: float = 6
    program_seconds: float = 60  # for all that is done with one program, after which it is given up


# What the virtual machine says of a computation that does not end.
_TOO_LONG = ("computes on its own for too long", "too_many_instructions")


@dataclass(frozen=True)
class Problem:
    """`kind` is one of FAILURES, or "no schedule", or "announced": that a schedule cannot be built."""

    kind: str
    message: str
    level: int | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Without what differs between programs."""
        message = re.sub(r"\S*/", "", self.message)
        message = re.sub(r"\b(main(\.\d+)+|t\d|[a-z]\w*\.c:\d+(:\d+)?|\d+(\.\d+)?)\b", "…", message)
        return self.kind, message[:200]


FAILURES = (
    "refused",
    "assertion",
    "left",
    "assumption",
    "killed",
    "does not end",
    "hangs",
    "starves",
    "values",
    "proof",
    "traceback",
)


@dataclass
class Report:
    schedules: int = 0
    builds: int = 0
    runs: int = 0
    compared: int = 0  # runs with a result that was known before
    seconds: dict[str, float] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    @property
    def failures(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.kind in FAILURES]


# ---------------------------------------------------------------------------------------------- promises


class Promises:
    """What a proof says of native runs."""

    def __init__(self, proof: Proof) -> None:
        self._proof = proof
        self._graph = {
            node.number: [(edge.transition.thread, proof.uncovered(edge.target)) for edge in node.edges]
            for node in proof.nodes
            if node.covered_by is None
        }

    @cached_property
    def ends(self) -> bool:
        return not self._has_cycle(None, ())

    @cached_property
    def has_choice(self) -> bool:
        return any(len(node.threads) > 1 for node in self._proof.nodes)

    def goes_on(self, name: str, *, begun: bool, ended: bool) -> bool:
        """Whether a thread surely does, for ever."""
        thread = next((thread.number for thread in self._proof.model.threads if thread.name == name), None)
        if thread is None:
            return False
        passed: tuple[Rest, ...] = (*(("unborn",) if begun else ()), *(() if ended else ("end", "stuck", "exit")))
        return not self.ends and not self._has_cycle(thread, passed)

    def _has_cycle(self, without: int | None, rests: Sequence[Rest]) -> bool:
        """Whether there is one without a thread, other than where it rests in one of these ways."""

        def targets(number: int) -> Iterator[int]:
            for thread, target in self._graph[number]:
                rest = None if without is None else self._proof.nodes[target].locations[without].rest
                if thread != without and (rest is None or rest not in rests):
                    yield target

        started: set[int] = set()
        finished: set[int] = set()
        for root in self._graph:
            stack = [(root, targets(root))] if root not in started else []
            started.add(root)
            while stack:
                number, rest_of_targets = stack[-1]
                target = next(rest_of_targets, None)
                if target is None:
                    finished.add(number)
                    stack.pop()
                elif target not in started:
                    started.add(target)
                    stack.append((target, targets(target)))
                elif target not in finished:
                    return True
        return False


# ---------------------------------------------------------------------------------------------- native runs


def thread_names(text: str) -> dict[int, str]:
    """What the virtual machine calls the threads of a program, by their numbers in it: by who creates them."""
    starts = re.split(r"^(?:static void \*(t\d)|int (main))\(.*\{$", text, flags=re.MULTILINE)
    bodies = {one or two: body for one, two, body in zip(starts[1::3], starts[2::3], starts[3::3], strict=True)}
    names = {0: "main"}
    pending = [("main", "main")]
    while pending:
        name, function = pending.pop()
        creations = re.findall(r"pthread_create\(&h(\d), 0, (t\d)", bodies.get(function, ""))
        for number, (own, created) in enumerate(creations, 1):
            names[int(own)] = f"{name}.{number}"
            pending.append((names[int(own)], created))
    return names


@dataclass(frozen=True)
class Own:
    """What a run reports of one thread."""

    half: int
    rounds: int
    begun: bool
    ended: bool
    hashes: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    status: int
    output: str
    message: str
    threads: tuple[Own, ...]


def run_natively(program: Path, environment: Mapping[str, str], limit: int) -> Run:
    try:
        done = subprocess.run(
            [program],
            capture_output=True,
            text=True,
            timeout=2 * limit / 1000 + 20,
            env={**os.environ, **environment, "LIMIT": str(limit)},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Run(OUT_OF_TIME, "", "does not even react to a signal", ())
    reports, message = [], []
    for line in done.stderr.splitlines():
        if line.startswith("report "):
            _, _, half, rounds, begun, ended, *hashes = line.split()
            reports.append(Own(int(half), int(rounds), begun == "1", ended == "1", tuple(hashes)))
        else:
            message.append(line)
    return Run(done.returncode, done.stdout, "\n".join(message), tuple(reports))


def judge(run: Run, promises: Promises, text: str) -> tuple[str, str] | None:
    """What is wrong about a run, if anything is."""
    if run.status == OUT_OF_TIME:
        names = thread_names(text)
        late = [own.rounds - own.half for own in run.threads]
        told = ", ".join(f"{number}: {own.half}+{late[number]}" for number, own in enumerate(run.threads))
        if promises.ends:
            return "does not end", f"rounds: {told}"
        if not any(late):
            return "hangs", f"rounds: {told}"
        for number, own in enumerate(run.threads):
            is_still = late[number] == 0 and max(late) >= _MANY and not own.ended
            if is_still and promises.goes_on(names.get(number, ""), begun=own.begun, ended=False):
                return "starves", f"thread {number}; rounds: {told}"
        return None
    if run.status == ASSUMPTION and "__VERIFIER_assume(v" in text:
        return None
    kinds = {-6: "assertion", LEFT: "left", ASSUMPTION: "assumption"}
    expected = 3 if "exit(3)" in text else 0
    if run.status not in (0, expected):
        return kinds.get(run.status, "killed"), f"status {run.status}: {run.message}"
    return None


class Builds:
    """The native programs of one schedule, and their runs."""

    def __init__(self, source: Path, text: str, schedule: ProgramSchedule, settings: Settings, report: Report) -> None:
        self._source = source
        self._text = text
        self._schedule = schedule
        self._settings = settings
        self._report = report
        self._promises = Promises(schedule.proof)
        self._names = thread_names(text)
        self._must = "".join(
            str(int(self._promises.goes_on(self._names.get(number, ""), begun=True, ended=False)))
            for number in range(MOST_THREADS + 1)
        )

    def examine(self) -> None:
        programs: dict[int, Path] = {}
        for level in self._settings.levels:
            program = self._source.with_suffix(f".{level}")
            try:
                build([self._source], self._schedule, program, optimise=level)
            except MazurkaError as error:
                self._report.problems.append(Problem("refused", str(error), level))
                continue
            programs[level] = program
            self._report.builds += 1
        expected = self._expected_outputs()
        jobs = [(level, number) for number in range(self._settings.runs) for level in programs]
        with ThreadPoolExecutor(3) as pool:
            runs = list(pool.map(lambda job: self._run(programs[job[0]], job[0], job[1], expected), jobs))
        self._report.runs += len(runs)
        for (level, number), run in zip(jobs, runs, strict=True):
            if run is not None and run.status == 0 and number in expected:
                self._report.compared += 1
                if run.output != expected[number][1]:
                    message = f"prints {run.output} instead of {expected[number][1]}"
                    self._report.problems.append(Problem("values", message, level))
        if not self._promises.has_choice:
            self._compare({job: run for job, run in zip(jobs, runs, strict=True) if run is not None})

    def _run(self, program: Path, level: int, number: int, expected: Mapping[int, tuple[str, str]]) -> Run | None:
        is_endless = "show(" not in self._text
        environment = {"SEED": str(number), "ENOUGH": str(_ENOUGH * is_endless), "MUST": self._must}
        if number in expected:
            environment["INPUTS"] = expected[number][0]
        if number % 3 == 2:
            environment["MAZURKA_DAWDLE"] = "1"
        problem = None
        for limit in _LIMITS:
            run = run_natively(program, environment, limit)
            problem = judge(run, self._promises, self._text)
            if problem is None or run.status != OUT_OF_TIME:
                break
        if problem is not None:
            self._report.problems.append(Problem(*problem, level))
            return None
        return run

    def _expected_outputs(self) -> dict[int, tuple[str, str]]:
        """For the numbers of some runs: the choices of the virtual machine for each thread, and what it prints. (A
        signal that has several waiters makes a choice that is no input.)"""
        if self._promises.has_choice or "show(" not in self._text or "pthread_cond_signal" in self._text:
            return {}
        expected: dict[int, tuple[str, str]] = {}
        for run in range(self._settings.runs):
            try:
                execution = follow(self._schedule, seed=run, steps=5000)
            except Departure as departure:
                if str(departure).endswith(_TOO_LONG):
                    continue  # a thread computes for ever, which is one step of the virtual machine
                raise
            if not execution.ended:
                continue
            choices: dict[str, list[int]] = {}
            for step in execution.schedule.steps:
                choices.setdefault(step.thread, []).extend(step.choices)
            lists = (choices.get(self._names.get(number, ""), ()) for number in range(MOST_THREADS + 1))
            expected[run] = ";".join(" ".join(map(str, own)) for own in lists), execution.output.decode()
        return expected

    def _compare(self, runs: Mapping[tuple[int, int], Run]) -> None:
        """The hashes of what threads read, as far as both runs have them."""
        first: dict[int, tuple[int, Run]] = {}
        for (level, number), run in runs.items():
            other_level, other = first.setdefault(number, (level, run))
            for thread, (one, two) in enumerate(zip(other.threads, run.threads, strict=False)):
                if any(a != b for a, b in zip(one.hashes, two.hashes, strict=False)):
                    message = f"thread {thread} reads other values than at level {other_level}"
                    self._report.problems.append(Problem("values", message, level))


# ---------------------------------------------------------------------------------------------- one program


def examine(text: str, folder: Path, settings: Settings) -> Report:
    """All that is to be known of a program."""
    report = Report()
    source = folder / "program.c"
    source.write_text(text)
    for until in settings.until:
        began = time.monotonic()
        try:
            _examine(source, text, until, settings, report)
        except MazurkaError as error:
            report.problems.append(Problem("no schedule", str(error)))
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            message = f"{type(error).__name__}: {error} ({Path(where.filename).name}, {where.name})"
            report.problems.append(Problem("traceback", message))
        report.seconds[f"until {until}"] = time.monotonic() - began
    return report


def _examine(source: Path, text: str, until: Until, settings: Settings, report: Report) -> None:
    outcome = find_schedules([source], until=until, timeout=settings.search_seconds)
    if outcome.schedule is None:
        report.problems.append(Problem("no schedule", outcome.reason or f"the program is {outcome.verdict}"))
        return
    last = [iteration for iteration in outcome.iterations if isinstance(iteration, SafeIteration)][-1]
    if last.obstacle is not None:
        report.problems.append(Problem("announced", last.obstacle))
        if last.schedule is outcome.schedule:
            return
    report.schedules += 1
    problems = check(outcome.schedule.proof.model, outcome.schedule)
    report.problems.extend(Problem("proof", problem) for problem in problems[:1])
    Builds(source, text, outcome.schedule, settings, report).examine()


def _work(text: str, settings: Settings, connection: Connection) -> None:
    with tempfile.TemporaryDirectory(prefix="mazurka-fuzz-") as folder:
        connection.send(examine(text, Path(folder), settings))
    connection.close()


class Worker:
    """A program that is examined in a process of its own, since that may take too long, or crash."""

    def __init__(self, text: str, settings: Settings) -> None:
        context = get_context("fork")
        self.connection, theirs = context.Pipe(duplex=False)
        self._process: ForkProcess = context.Process(target=_work, args=(text, settings, theirs))
        self._process.start()
        theirs.close()
        self.deadline = time.monotonic() + settings.program_seconds

    def report(self) -> Report:
        """When there is one, or after the deadline."""
        try:
            if self.connection.poll(max(0.0, self.deadline - time.monotonic())):
                return self.connection.recv()  # type: ignore[no-any-return]
            return Report(problems=[Problem("no schedule", "everything together takes too long")])
        except EOFError:
            self._process.join()
            return Report(problems=[Problem("traceback", f"the process ends with {self._process.exitcode}")])
        finally:
            self._process.kill()
            self._process.join()
            self.connection.close()


def warm_up() -> None:
    """What all programs need is read once."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "program.c"
        source.write_text(generate(0).text)
        load_model([source])


def examine_all(texts: Mapping[int, str], settings: Settings, jobs: int = 1) -> Iterator[tuple[int, Report]]:
    """By number, in any order."""
    warm_up()
    pending = list(texts.items())[::-1]
    working: dict[int, Worker] = {}
    while pending or working:
        while pending and len(working) < jobs:
            number, text = pending.pop()
            working[number] = Worker(text, settings)
        left = min(worker.deadline for worker in working.values()) - time.monotonic()
        ready = wait([worker.connection for worker in working.values()], max(0.0, left))
        for number, worker in list(working.items()):
            if worker.connection in ready or time.monotonic() >= worker.deadline:
                del working[number]
                yield number, worker.report()


# ---------------------------------------------------------------------------------------------- by hand


def shrink(program: Program, problem: Problem, settings: Settings, seconds: float) -> Program:
    """A smaller program with the same problem: pieces are taken away as long as it stays."""
    end = time.monotonic() + seconds
    settings = Settings(
        settings.levels if problem.level is None else (problem.level,),
        settings.until,
        max(4, settings.runs),
        settings.search_seconds,
        settings.program_seconds,
    )
    position, is_smaller = 0, False
    while time.monotonic() < end:
        candidate = next(islice(program.smaller(), position, None), None)
        if candidate is None:
            if not is_smaller:
                break
            position, is_smaller = 0, False
        elif any(other.key == problem.key for other in Worker(candidate.text, settings).report().problems):
            program, is_smaller = candidate, True  # what comes next is at the same position now
        else:
            position += 1
    return program


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--levels", default="0,1,2")
    parser.add_argument("--until", default="1", help="which schedules: of which iterations that found one")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=6, help="of each search, in seconds")
    parser.add_argument("--shrink", type=float, default=60, help="seconds for each new problem; 0: do not")
    parser.add_argument("--output", type=Path, help="where to write the programs with problems")
    parser.add_argument("--quiet", action="store_true", help="no line for each problem")
    options = parser.parse_args(arguments)
    settings = Settings(
        levels=tuple(int(level) for level in options.levels.split(",")),
        until=tuple(int(number) for number in options.until.split(",")),
        runs=options.runs,
        search_seconds=options.timeout,
        program_seconds=60 + 10 * options.timeout,
    )
    began = time.monotonic()
    total = Report()
    counts: Counter[tuple[str, str]] = Counter()
    levels: dict[tuple[str, str], Counter[int | None]] = {}
    first: dict[tuple[str, str], tuple[int, Problem]] = {}
    seeds = range(options.seed, options.seed + options.count)
    programs = {seed: generate(seed) for seed in seeds}
    done = examine_all({seed: programs[seed].text for seed in seeds}, settings, options.jobs)
    for number, (seed, report) in enumerate(done, 1):
        if not options.quiet and number % 50 == 0:
            print(f"{number} programs, {time.monotonic() - began:.0f} s", flush=True)
        total.schedules += report.schedules
        total.builds += report.builds
        total.runs += report.runs
        total.compared += report.compared
        by_key = {problem.key: problem for problem in report.problems}
        for problem in report.problems:
            levels.setdefault(problem.key, Counter())[problem.level] += 1
        for key, problem in by_key.items():
            counts[key] += 1
            first.setdefault(key, (seed, problem))
            if not options.quiet and problem.kind in FAILURES:
                print(f"seed {seed}: {problem.kind}, level {problem.level}: {problem.message}", flush=True)
            if options.output is not None and problem.kind in FAILURES:
                folder = options.output / problem.kind.replace(" ", "_")
                folder.mkdir(parents=True, exist_ok=True)
                head = f"/* seed {seed}, level {problem.level}: {problem.message} */\n"
                (folder / f"{seed}.c").write_text(head + programs[seed].text)
    if options.output is not None and options.shrink:
        for number, (key, (seed, problem)) in enumerate(sorted(first.items())):
            small = shrink(programs[seed], problem, settings, options.shrink)
            folder = options.output / "smallest"
            folder.mkdir(parents=True, exist_ok=True)
            head = f"/* {counts[key]} of {options.count}; seed {seed}, level {problem.level}\n"
            head += f"   {problem.kind}: {problem.message} */\n"
            stem = f"{problem.kind.replace(' ', '_')}-{number}-{seed}"
            (folder / f"{stem}.c").write_text(head + small.text)
            (folder / f"{stem}.txt").write_text(head + small.body + "\n")
    print(
        f"{options.count} programs in {time.monotonic() - began:.0f} s: {total.schedules} schedules, "
        f"{total.builds} builds, {total.runs} runs, {total.compared} of them compared with the virtual machine"
    )
    for key, count in sorted(counts.items(), key=lambda entry: (entry[0][0], -entry[1])):
        at = ", ".join(f"{number} at level {level}" for level, number in levels[key].items() if level is not None)
        print(f"{count:5} {key[0]}: {key[1]} (seed {first[key][0]}{'; ' + at if at else ''})")
    return 1 if any(kind in FAILURES for kind, _ in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
