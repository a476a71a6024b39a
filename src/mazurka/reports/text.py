"""A result for people: the verdict in words, data races, and for a bug its trace, one column per thread."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, TextIO

from mazurka.engines.stateful import StateProgress
from mazurka.escaping import visible
from mazurka.result import Bug, Executions, Race, Result, States, Verdict
from mazurka.sizes import format_size
from mazurka.trace import Action, Trace, TraceStep, Wait

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from mazurka.engines.stateless import Progress

_NARROWEST_COLUMN = 22
_SETUP_SHOWN = 8
_ACTIONS_SHOWN = 12
# Of a trace that is longer than that, its begin and its end.
_MOST_STEPS = 100
_FIRST_STEPS = 20
_LAST_STEPS = 60
_RACES_SHOWN = 10
# Where so many of the steps led further away from the start, if there were so many states, the search did hardly
# anything but follow something that grows.
_MOSTLY_DEEPER = 0.75
_MANY_STATES = 1000
_ROUND = "where a loop would only go round again"
_UNSOUND = "the unsound reduction"


def summary(result: Result) -> str:
    """The verdict in one line."""
    return visible(_verdict(result))


def progress_line(progress: Progress | StateProgress) -> str:
    """How far a search is, in one line."""
    pace = f"{progress.per_second:,.0f} per second"
    if isinstance(progress, StateProgress):
        if progress.shortening:
            return f"bug found; looking for a shorter way to it (Ctrl-C: report now), {progress.seconds:.0f} s"
        doubt = "" if progress.sound else f"{_UNSOUND}: "
        where = f"{format_size(progress.memory)}, depth {progress.depth:,}"
        return f"{doubt}{counted(progress.states, 'state')}, {pace}, {where}, {progress.seconds:.0f} s"
    line = f"{progress.executions:,}"
    if progress.estimate:
        line += f" of {about(progress.estimate)} ({progress.executions / progress.estimate:.0%})"
    return f"{line} executions, {pace}, depth {progress.depth}, {progress.seconds:.0f} s"


def _verdict(result: Result) -> str:
    if result.verdict is Verdict.BUG:
        assert result.bug is not None
        return f"bug: {_located(result.bug)}"
    match result.coverage:
        case States() as states:
            return _verdict_on_states(result, states)
        case Executions(algorithm="replay") as executions:
            return _verdict_on_replay(result, executions)
        case executions:
            return _verdict_on_executions(result, executions)


def _verdict_on_states(result: Result, states: States) -> str:
    count = counted(states.visited, "state")
    if result.verdict is Verdict.OK:
        return f"verified for unbounded executions: all {count} covered ({duration(result.seconds)})"
    if states.finished:
        return f"incomplete: no bug found, but {result.reason}; {count} ({duration(result.seconds)})"
    by = "" if states.sound else f" by {_UNSOUND}"
    pace = f"{states.per_second:,.0f} per second"
    return (
        f"incomplete: {result.reason}; stopped after {count}{by}, {pace}, at depth {states.depth:,}, no bug so far "
        f"({duration(result.seconds)})"
    )


def _verdict_on_replay(result: Result, executions: Executions) -> str:
    if result.verdict is Verdict.INCOMPLETE:
        return f"incomplete: {result.reason or f'this execution shows {_within(executions)}'}"
    where = "at a false assumption" if executions.assumed else _ROUND
    return f"this execution stops {where}" if executions.blocked else "this execution ends without a bug"


def _verdict_on_executions(result: Result, executions: Executions) -> str:
    counts, effort = _counts(result, executions), _effort(result, executions)
    if result.verdict is Verdict.INCOMPLETE and result.reason is None:
        return f"incomplete: {_within(executions)}; {counts} ({effort})"
    if result.verdict is Verdict.INCOMPLETE and executions.algorithm == "random":
        return f"incomplete: {counts}, no bug; {result.reason} ({effort})"
    if result.verdict is Verdict.INCOMPLETE:
        return f"incomplete: {result.reason}; stopped after {counts}, no bug so far ({effort})"
    only = executions.complete + executions.blocked == 1
    everything = "the only execution" if only else f"all {counts}"
    if executions.assumed and not executions.complete:
        looping = f" or {_ROUND}" if executions.blocked > executions.assumed else ""
        stops = f"{'stops' if only else 'stop'} at a false assumption{looping}"
        return f"verified, but nothing was checked to its end: {everything} {stops} ({effort})"
    if executions.blocked and not executions.complete:
        everything = "the only execution" if only else f"all {_executions(result, executions)}"
        return f"verified: {everything}, up to {_ROUND} ({effort})"
    return f"verified: {everything} ({effort})"


def write(
    result: Result, to: TextIO, *, replay_with: Sequence[str] = (), color: str = "auto", width: int | None = None
) -> None:
    """Write the whole report. `replay_with` are command lines that show the execution again."""
    remark = _remark(result)
    if result.trace is None and not result.races and not replay_with:
        print(summary(result), *([remark] if remark else []), sep="\n", file=to)
        return
    console = open_console(to, color, width)
    style = {Verdict.OK: "bold green", Verdict.BUG: "bold red", Verdict.INCOMPLETE: "bold yellow"}[result.verdict]
    console.print(summary(result), style=style, markup=False, highlight=False, soft_wrap=True)
    if remark:
        console.print(remark, style="dim", highlight=False, soft_wrap=True)
    _write_races([race for race in result.races if race.schedule != result.schedule], console)
    if result.trace is not None:
        write_trace(result.trace, console)
    elif result.races:
        console.print("(--races error shows how a race comes about)", style="dim", highlight=False)
    if replay_with:
        console.print("\nto see it again:", highlight=False)
    for command in replay_with:
        console.print(f"  {visible(command)}", markup=False, highlight=False, soft_wrap=True)


def open_console(stream: TextIO, color: str, width: int | None = None) -> Console:
    from rich.console import Console

    return Console(
        file=stream,
        width=width or shutil.get_terminal_size((100, 24)).columns,
        force_terminal={"always": True, "never": False}.get(color),
        no_color=True if color == "never" else None,
        emoji=False,
    )


def _located(bug: Bug) -> str:
    """A deadlock has several places, which the trace shows; those of a livelock or a race are in its message."""
    if bug.file is None or bug.kind in ("deadlock", "livelock", "race"):
        return bug.message
    return f"{bug.message} ({bug.file}:{bug.line}, thread {bug.thread})"


def _remark(result: Result) -> str:
    """What else there is to say about the search, below the verdict."""
    match result.coverage:
        case States() as states:
            explored = f"{_explored_states(result, states)}, " if result.bug else ""
            return explored + _effort_for_states(states) + _advice_on_states(result, states)
        case Executions(algorithm="replay"):
            return ""
        case executions:
            explored = f"{_executions(result, executions)} explored ({_effort(result, executions)})"
            return explored if result.bug else ""


def _explored_states(result: Result, states: States) -> str:
    count = counted(states.visited, "state")
    if states.finished and states.sound:
        return f"all {count} covered ({duration(result.seconds)})"
    return f"{count} visited ({duration(result.seconds)}{f'; {result.reason}' if result.reason else ''})"


def _effort_for_states(states: States) -> str:
    by = f"the reduction {states.reduction}" if states.sound else f"{_UNSOUND}, which can miss bugs"
    exact = ", on exact states" if states.exact else ""
    return (
        f"{counted(states.transitions, 'transition')}, depth {states.deepest:,} at most, {format_size(states.memory)}, "
        f"by {by}{exact}; data races and livelocks were not looked for"
    )


def _advice_on_states(result: Result, states: States) -> str:
    """A large number of states suggests that much was tried. Not so where one thread counts, and that is all."""
    deeper = states.visited > _MANY_STATES and states.deepest >= _MOSTLY_DEEPER * states.transitions
    if result.bug or states.finished or not deeper:
        return ""
    return (
        "\nnearly every step led to a new state, further from the start: it seems that something keeps growing, and "
        "other ways were hardly tried; try --engine stateless with --unroll N or --algorithm random"
    )


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _executions(result: Result, executions: Executions) -> str:
    """How much was covered: "3,432 executions", "12 of about 100 interleavings"."""
    whole, estimate = executions.complete + executions.blocked, executions.estimate
    noun = {"exhaustive": "interleaving", "random": "random execution"}.get(executions.algorithm, "execution")
    of_all = f" of {about(estimate)}" if estimate and result.verdict is Verdict.INCOMPLETE else ""
    return f"{whole:,}{of_all} {noun}{'' if whole == 1 and not of_all else 's'}"


def _counts(result: Result, executions: Executions) -> str:
    """The same, with what is special about some of them."""
    text, whole = _executions(result, executions), executions.complete + executions.blocked
    bounded, assumed = executions.bounded, executions.assumed
    looping = executions.blocked - bounded - assumed
    stopped = [(bounded, "at the bound on loops"), (assumed, "at a false assumption"), (looping, _ROUND)]
    (count, where), *others = [part for part in stopped if part[0]] or [(0, "")]
    if count and (executions.complete or bounded or result.verdict is Verdict.INCOMPLETE):
        which = f"{count:,} of which" if count < whole else "which" if whole == 1 else "all of which"
        text += f", {which} {'stops' if count == 1 else 'stop'} {where}"
        text += "".join(f" and {count:,} {where}" for count, where in others)
    return text


def _within(executions: Executions) -> str:
    """What a search is worth in which loops were stopped at their bound."""
    if executions.unroll is None:
        return "no bug within the bound on loops"
    return f"no bug within {counted(executions.unroll, 'iteration')} of each loop"


def duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"


def _effort(result: Result, executions: Executions) -> str:
    given_up = f", {executions.redundant:,} more given up as equivalent" if executions.redundant else ""
    # Not what was asked for, perhaps: `pop` hands some programs over.
    by = ", by the algorithm optimal" if executions.algorithm == "optimal" else ""
    return duration(result.seconds) + given_up + by


def about(count: int) -> str:
    """An estimate in words: no more digits than it is worth."""
    if count < 1_000_000_000:
        return f"about {int(float(f'{count:.2g}')):,}"
    digit, power = f"{count:.0e}".split("e")
    return f"about {digit}·10^{int(power)}"


# ------------------------------------------------------------------------------------------------ data races


def _write_races(races: Sequence[Race], console: Console) -> None:
    for race in races[:_RACES_SHOWN]:
        console.print(f"warning: {visible(str(race))}", style="yellow", markup=False, highlight=False, soft_wrap=True)
    if len(races) > _RACES_SHOWN:
        console.print(f"… and {len(races) - _RACES_SHOWN} more", style="yellow", highlight=False)


# ------------------------------------------------------------------------------------------------ the trace


def write_trace(trace: Trace, console: Console) -> None:
    _write_setup([step for step in trace.steps if _is_setup(step)], console)
    steps, gap = _shown(trace)
    acting = {step.thread for step in steps} | {wait.thread for wait in trace.waiting}
    threads = [thread for thread in trace.threads if thread.name in acting]
    where = max([len(_where(step)) for step in steps] + [len(_where(wait)) for wait in trace.waiting], default=0)
    if threads:
        room = (console.width - where - 2) // len(threads) - 3
        if room >= _NARROWEST_COLUMN or len(threads) == 1:
            _write_columns(steps, gap, trace.waiting, [(thread.name, str(thread)) for thread in threads], console)
        else:
            _write_list(steps, gap, trace.waiting, {thread.name: str(thread) for thread in threads}, console)
    if trace.cycle:
        console.print(f"\neach waits for the next: {' → '.join([*trace.cycle, trace.cycle[0]])}", highlight=False)
    if trace.output:
        console.print("\nthe program printed:", highlight=False)
        for line in trace.output.removesuffix("\n").split("\n"):
            console.print(f"  {visible(line)}", markup=False, highlight=False, soft_wrap=True)


def _is_setup(step: TraceStep) -> bool:
    return step.setup and not step.failed


def _shown(trace: Trace) -> tuple[list[TraceStep], dict[int, str]]:
    """The steps to show, and at the number of the step that follows it, what to say about those that are left out."""
    steps = [step for step in trace.steps if not _is_setup(step)]
    omitted = trace.omitted
    begin = sum(not _is_setup(step) for step in trace.steps[: trace.omitted_after]) if omitted else _FIRST_STEPS
    if len(steps) > _MOST_STEPS:
        begin = min(begin, _FIRST_STEPS)
        omitted += len(steps) - begin - _LAST_STEPS
        steps = steps[:begin] + steps[-_LAST_STEPS:]
    more = f"… {omitted:,} more …" if trace.omitted else f"… {omitted:,} more, which --json shows …"
    return steps, {begin: more} if omitted else {}


def _write_setup(steps: Sequence[TraceStep], console: Console) -> None:
    """What main did before there were others: for each variable the value that it was left with."""
    values: dict[str, str] = {}
    for step in steps:
        for action in step.actions:
            if action.object and action.written:
                values.pop(action.object, None)
                values[action.object] = action.written
    if not values:
        return
    shown = [f"{name} = {value}" for name, value in list(values.items())[-_SETUP_SHOWN:]]
    more = f"{len(values) - len(shown)} more, " if len(values) > len(shown) else ""
    console.print(f"\nmain sets up {more}{', '.join(shown)}", markup=False, highlight=False)


def _write_columns(
    steps: Sequence[TraceStep],
    gap: dict[int, str],
    waiting: Sequence[Wait],
    threads: Sequence[tuple[str, str]],
    console: Console,
) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, show_edge=False, highlight=False)
    table.add_column("", style="dim", no_wrap=True)
    for _, title in threads:
        table.add_column(title, overflow="fold")
    order = [name for name, _ in threads]

    def add(where: str, thread: str, cell: Text) -> None:
        cells = [Text()] * len(order)
        cells[order.index(thread)] = cell
        table.add_row(where, *cells)

    for number, step in enumerate(steps):
        if number in gap:
            table.add_row("…", gap[number])
        add(_where(step), step.thread, _cell(step))
    for wait in waiting:
        add(_where(wait), wait.thread, _waiting_cell(wait))
    console.print()
    console.print(table)


def _write_list(
    steps: Sequence[TraceStep], gap: dict[int, str], waiting: Sequence[Wait], titles: dict[str, str], console: Console
) -> None:
    """Where there is no room for columns: one step below the other, a heading wherever the thread changes."""
    from rich.table import Table
    from rich.text import Text

    shown = [(step.thread, _where(step), _cell(step)) for step in steps]
    shown += [(wait.thread, _where(wait), _waiting_cell(wait)) for wait in waiting]
    width = max(len(where) for _, where, _ in shown)
    current = None
    for number, (thread, where, cell) in enumerate(shown):
        if number in gap:
            console.print(f"\n{gap[number]}", highlight=False)
        if thread != current:
            console.print(Text(f"\n{titles[thread]}", style="bold"))
            current = thread
        line = Table.grid(padding=(0, 2))
        line.add_column(style="dim", width=width)
        line.add_column(overflow="fold")
        line.add_row(where, cell)
        console.print(line)


def _where(at: TraceStep | Wait) -> str:
    return f"{visible(PurePath(at.file).name)}:{at.line}" if at.file else ""


def _cell(step: TraceStep) -> Text:
    """The statement, and below it what it did."""
    from rich.text import Text

    lines = [Text(step.statement, style="bold" if step.failed else "")] if step.statement else []
    indent = "  " if step.statement else ""
    actions = [(action.kind, visible(_shorter(action, step.statement))) for action in step.actions]
    told = [(kind, text) for kind, text in actions if text]
    hidden = len(told) - _ACTIONS_SHOWN
    for number, (kind, text) in enumerate(told):
        if hidden > 0 and number == _ACTIONS_SHOWN // 2:
            lines.append(Text(f"{indent}… {hidden} more …", style="dim"))
        if hidden <= 0 or not 0 <= number - _ACTIONS_SHOWN // 2 < hidden:
            wrong = kind in ("fail", "race")
            lines.append(Text(f"✗ {text}", style="bold red") if wrong else Text(indent + text, style="cyan"))
    return Text("\n").join(lines)


def _waiting_cell(wait: Wait) -> Text:
    from rich.text import Text

    lines = [Text(wait.statement)] if wait.statement else []
    told = str(wait).removeprefix(wait.thread).strip().replace(f"the loop at {wait.file}:{wait.line}", "this loop")
    return Text("\n").join([*lines, Text(f"✗ {told}", style="bold red")])


def _shorter(action: Action, statement: str | None) -> str:
    """What the statement does not say itself: of `pthread_mutex_lock(&m)` nothing, of `pthread_mutex_lock(&forks[i])`
    which fork it is."""
    if action.kind != "call" or statement is None:
        return action.text
    said = _without_blanks(statement)
    if _without_blanks(action.text) in said:
        return ""
    function, _, objects = action.text.partition("(")
    if f"{function}(" not in said:
        return action.text
    shown = objects.replace(")", "", 1)
    return f"on {shown}" if shown else ""


def _without_blanks(text: str) -> str:
    """People set blanks in calls in many ways."""
    return "".join(text.split())
