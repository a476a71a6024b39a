"""Test cases for people: a line for each, how each bug comes about, and how many there are of what. And as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TextIO

from mazurka.escaping import visible
from mazurka.reports import text
from mazurka.result import Result
from mazurka.testcases.outcome import Outcome, Outcomes

_WIDEST_NAME = 40
_WORDS = {"ok": "verified", "bug": "with a bug", "incomplete": "incomplete", "error": "that cannot be checked"}


def write_line(outcome: Outcome, names: Sequence[str], to: TextIO) -> None:
    """The verdict on one of these test cases, as soon as it is known."""
    width = min(max(len(visible(name)) for name in names), _WIDEST_NAME)
    races = len(outcome.result.races) if isinstance(outcome.result, Result) else 0
    also = f", {text.counted(races, 'data race')}" if races else ""
    print(f"{visible(outcome.name):<{width}}  {verdict(outcome)}{also}", file=to, flush=True)


def verdict(outcome: Outcome) -> str:
    """In a line. What the framework says of a failure says more than that there was one."""
    if not isinstance(outcome.result, Result):
        return f"error: {visible(outcome.result.splitlines()[0])}"
    if outcome.complaint is not None and outcome.result.bug is not None and outcome.result.bug.kind == "exit":
        return visible(f"bug: {outcome.complaint}")
    return text.summary(outcome.result)


def write(
    checked: Outcomes, to: TextIO, again: Callable[[str], list[str]], *, config: str | None = None, color: str = "auto"
) -> None:
    """What is to be said when all are checked. `again` gives the commands that show the bug of one again."""
    console = text.open_console(to, color)
    for outcome in checked.outcomes:
        if outcome.verdict == "ok" and not (isinstance(outcome.result, Result) and outcome.result.races):
            continue
        title = f"\n── {visible(outcome.name)} "
        console.print(f"{title:─<{console.width}}", style="bold", markup=False, highlight=False, soft_wrap=True)
        if isinstance(outcome.result, Result):
            commands = again(outcome.name) if outcome.result.schedule else []
            text.write(outcome.result, to, replay_with=commands, color=color)
        else:
            print(outcome.result, file=to)
    counts = [f"{checked.count(verdict)} {word}" for verdict, word in _WORDS.items() if checked.count(verdict)]
    counts += [f"{len(checked.left)} not checked (interrupted)"] if checked.left else []
    total = len(checked.outcomes) + len(checked.left)
    seconds = text.duration(checked.seconds)
    print(f"\n{text.counted(total, 'test case')} of {checked.framework}: {', '.join(counts)} ({seconds})", file=to)
    if config is not None:
        print(text.configured(config), file=to)


def write_json(checked: Outcomes, to: TextIO, *, race_schedules: bool, config: str | None) -> None:
    """docs/json.md says what is in it."""
    json.dump({**checked.to_json(race_schedules), "config": config}, to, indent=2)
    to.write("\n")
