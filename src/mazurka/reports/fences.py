"""What has to be stronger in a program, for people and as JSON (docs/json.md says what is in it)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from mazurka.escaping import visible
from mazurka.fencing import Change, FencesProgress, FoundFences
from mazurka.reports import text

_ORDER = re.compile(r"(memory_order(?:_|::)|__ATOMIC_)(\w+)")
_CPP = {".cc", ".cpp", ".cxx", ".C", ".hpp", ".hh", ".hxx"}


def progress_line(progress: FencesProgress) -> str:
    checks = text.counted(progress.checks, "check")
    return f"{checks}; what is enough costs at least {progress.bound}, {progress.seconds:.0f} s"


def summary(found: FoundFences) -> str:
    """What was found, in one line."""
    effort = f"{text.counted(found.checks, 'check')}, {text.duration(found.seconds)}"
    match found.verdict:
        case "verified":
            return f"verified as it is under {found.memory_model}: nothing has to be stronger ({effort})"
        case "proposals":
            first = found.proposals[0]
            changes = text.counted(len(first.changes), "change")
            return f"verified under {found.memory_model} with {changes} of cost {first.cost}, the least ({effort})"
        case "bug" if found.interleaving:
            return f"no memory order helps, since an interleaving shows it ({effort})"
        case "bug":
            strong = text.counted(found.sites, "place")
            return f"no memory order helps: it is there with all {strong} as strong as they can be ({effort})"
        case _:
            enough = f"; what is enough costs at least {found.at_least}" if found.at_least else ""
            return f"incomplete: {found.reason}{enough} ({effort})"


def write(
    found: FoundFences,
    to: TextIO,
    *,
    show_with: Sequence[str] = (),
    config: str | None = None,
    color: str = "auto",
) -> None:
    """The whole report. `show_with` are command lines that show the bug again, `config` is the file that options were
    taken from."""
    console = text.open_console(to, color)

    def line(words: str, style: str = "") -> None:
        console.print(visible(words), style=style, markup=False, highlight=False, soft_wrap=True)

    line(summary(found), "bold green" if found.exit_code == 0 else "bold red" if found.exit_code == 1 else "bold")
    for note in _notes(found):
        line(note, "dim")
    if config is not None:
        line(text.configured(config), "dim")
    for number, proposal in enumerate(found.proposals):
        line("")
        if found.verdict == "incomplete":
            line(f"enough, but perhaps not the least (cost {proposal.cost}):")
        if number:
            line("or:")
        for change in proposal.changes:
            line(str(change))
            for hint in _hint(change):
                line(f"  {hint}".rstrip(), {"-": "red", "+": "green"}.get(hint[0], ""))
    if found.verdict == "bug":
        line("")
        console.file.flush()
        text.write(found.result, to, replay_with=show_with, color=color)
    console.file.flush()


def _notes(found: FoundFences) -> Iterator[str]:
    if found.verdict == "proposals":
        others = _before(found)
        yield f"as it is: {others}"
    if found.verdict == "proposals" and found.reason is not None:
        yield f"there may be others of the same cost: {found.reason}"
    elif found.more:
        yield f"there may be more than these {len(found.proposals)} of the same cost"
    if found.result.races and found.verdict == "verified":
        for race in found.result.races:
            yield f"warning, no memory order removes it: {race}"
    if found.computed and found.verdict in ("proposals", "bug"):
        places = ", ".join(f"{file}:{line}" for file, line in found.computed)
        yield f"orders that are computed at run time are left as they are ({places})"


def _before(found: FoundFences) -> str:
    """What is wrong with the program as it is."""
    if found.result.bug is not None:
        return text.summary(found.result)
    return str(found.result.races[0])


def _hint(change: Change) -> Iterator[str]:
    """How the line is to be changed, as in a diff."""
    try:
        source = Path(change.file).read_text(errors="replace").splitlines()[change.line - 1]
    except (OSError, IndexError):
        return
    if change.before is None:
        space = source[: len(source) - len(source.lstrip())]
        name = "atomic_thread_fence(memory_order_{})"
        name = "std::atomic_thread_fence(std::memory_order_{})" if Path(change.file).suffix in _CPP else name
        fence = f"{space}{name.format(change.after)};"
        lines = [f"+ {fence}", f"  {source}"] if change.where == "before" else [f"  {source}", f"+ {fence}"]
        if change.braces:
            outer = space.removesuffix("\t") if space.endswith("\t") else space[4:]
            lines = [f"+ {outer}{{", *lines, f"+ {outer}}}"]
        yield from lines
        return
    changed = _edited(source, change)
    yield from [f"  {source}"] if changed is None else [f"- {source}", f"+ {changed}"]


def _edited(source: str, change: Change) -> str | None:
    """A line with another order in it, if that stands in its statement there in so many words, once; of a
    compare-exchange, the one for success comes first."""
    start = max(change.column - 1, 0)
    end = source.find(";", start)
    orders = list(_ORDER.finditer(source, start, len(source) if end < 0 else end))
    of_two = change.operation.endswith("compare-exchange") and len(orders) == 2
    if len(orders) != 1 and not of_two:
        return None
    found = orders[-1 if change.operation.startswith("failing") else 0]
    if found[2].lower() not in (change.before, "consume"):
        return None
    after = change.after.upper() if found[2].isupper() else change.after
    return source[: found.start(2)] + after + source[found.end(2) :]


def write_json(found: FoundFences, to: TextIO, *, config: str | None = None) -> None:
    json.dump({**found.to_json(), "config": config}, to, indent=2)
    to.write("\n")
