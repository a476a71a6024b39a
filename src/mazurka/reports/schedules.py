"""The search for schedules, for people and as JSON (docs/json.md says what is in it)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TextIO

from mazurka.constrained.impact.iterative import SearchProgress
from mazurka.constraining import NO_SCHEDULE_FOUND, FoundSchedules, Iteration, SafeIteration, UnsafeIteration
from mazurka.escaping import visible
from mazurka.reports import text

_VERDICTS = {
    "safe": "safe: no schedule of the program leads to a bug",
    "partially safe": "partially safe: some schedules lead to a bug, others never do",
    "unsafe": "unsafe: no schedule is safe: each one fails, gets into a deadlock or is unfair, for some inputs",
}


def progress_line(number: int, progress: SearchProgress, seconds: float) -> str:
    """How far the iteration with this number is, in one line."""
    tree = f"{progress.nodes:,} nodes, {progress.covered:,} covered"
    solver = f"{progress.queries:,} queries to the solver ({progress.solver_seconds:.0f} s)"
    return f"iteration {number}: {tree}, {solver}, {seconds:.0f} s"


def write_iteration(iteration: Iteration, to: TextIO, *, color: str = "auto") -> None:
    """What an iteration has found, as soon as it is there."""
    console = text.open_console(to, color)
    prefix = f"iteration {iteration.number}"
    match iteration:
        case SafeIteration(schedule=schedule):
            size = f"{iteration.nodes:,} nodes, {text.counted(len(schedule.sections), 'section')}"
            title = f"{prefix}: safe under a schedule of {size} ({text.duration(iteration.seconds)})"
            console.print(title, style="bold green", markup=False, highlight=False, soft_wrap=True)
            for line in iteration.describe():
                console.print(f"  {visible(line)}", markup=False, highlight=False, soft_wrap=True)
            if iteration.obstacle is not None:
                why = f"  cannot be built, because {visible(iteration.obstacle)}"
                console.print(why, style="yellow", markup=False, highlight=False, soft_wrap=True)
        case UnsafeIteration(result=result):
            title = f"{prefix}: {text.summary(result)} ({text.duration(iteration.seconds)})"
            console.print(title, style="bold red", markup=False, highlight=False, soft_wrap=True)
            if result.trace is not None:
                text.write_trace(result.trace, console)
    console.file.flush()


def summary(outcome: FoundSchedules) -> str:
    """How the search has ended, in one line."""
    took = f"{outcome.progress.nodes:,} nodes, {text.duration(outcome.seconds)}"
    safe = sum(isinstance(iteration, SafeIteration) for iteration in outcome.iterations)
    unsafe = len(outcome.iterations) - safe
    have = f"{text.counted(safe, 'safe schedule')} and {text.counted(unsafe, 'bug')} so far"
    if outcome.verdict is not None:
        doubt = "if integers had no limits, " if outcome.integers == "mathematical" else ""
        but = f"; but {NO_SCHEDULE_FOUND}" if outcome.verdict == "safe" and outcome.schedule is None else ""
        return f"{doubt}{_VERDICTS[outcome.verdict]}{but} ({took})"
    if outcome.reason is not None:
        return f"incomplete: {outcome.reason}; {have} ({took})"
    rest = "there are no more" if outcome.exhausted else "there may be more"
    return f"{text.counted(safe, 'safe schedule')} found, {rest} ({took})"


def write_outcome(
    outcome: FoundSchedules,
    to: TextIO,
    *,
    replay_with: Sequence[str] = (),
    build_with: Sequence[str] = (),
    config: str | None = None,
    color: str = "auto",
) -> None:
    """How the search has ended. `replay_with` are command lines that show the first bug again, `build_with` those that
    make use of the schedule; `config` is the file that options were taken from."""
    console = text.open_console(to, color)
    console.print(summary(outcome), style="bold", markup=False, highlight=False, soft_wrap=True)
    about = text.taken_for_seq_cst(outcome.weak_orders), text.configured(config) if config is not None else ""
    for note in filter(None, about):
        console.print(note, style="dim", markup=False, highlight=False, soft_wrap=True)
    for purpose, commands in (
        ("to see the first bug again", replay_with),
        ("to run the program under the last schedule", build_with),
    ):
        if commands:
            console.print(f"\n{purpose}:", highlight=False)
        for command in commands:
            console.print(f"  {visible(command)}", markup=False, highlight=False, soft_wrap=True)


def write_json(outcome: FoundSchedules, to: TextIO, *, config: str | None = None) -> None:
    json.dump({**outcome.to_json(), "config": config}, to, indent=2)
    to.write("\n")
