"""A result for people: the verdict in words, data races, and for a bug its trace, one column per thread."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, TextIO

from mazurka.engines.outcome import ONE_JOB
from mazurka.engines.stateful import StateProgress
from mazurka.escaping import visible
from mazurka.executions.trace import Action, Order, Thread, Trace, TraceStep, Wait, nearest
from mazurka.options import ALGORITHM, MEMORY
from mazurka.program.orders import accesses_in
from mazurka.program.program import WeakOrder
from mazurka.reports.folding import Run, fold
from mazurka.result import Bug, Executions, Finding, Race, Result, States, Verdict
from mazurka.sizes import format_size

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from mazurka.engines.stateless import Progress

_NARROWEST_COLUMN = 22
_SETUP_SHOWN = 8
_ACTIONS_SHOWN = 12
# Of a trace that is longer than that, what is nearest to what went wrong.
_MOST_STEPS = 100
_RACES_SHOWN = 10
# Of bugs after the first one: how many, for how many of them the trace, and how long it may be.
_BUGS_SHOWN = 20
_TRACES_SHOWN = 5
_SHORT_TRACE = 30
_PLACES_SHOWN = 8
# Where so many of the steps led further away from the start, if there were so many states, the search did hardly
# anything but follow something that grows.
_MOSTLY_DEEPER = 0.75
_MANY_STATES = 1000
_NOT_EXPLORED = "load buffering (cycles of program order and reads-from) is not explored"
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
    noun = _CLASSES if progress.classes else "executions"
    return f"{line} {noun}, {pace}, depth {progress.depth}, {progress.seconds:.0f} s"


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
    if result.verdict is Verdict.INCOMPLETE and executions.finished:
        others = " in the others" if executions.complete + executions.blocked > executions.beyond else ""
        none = f", no bug{others}" if result.limit else ""
        return f"incomplete: {result.reason}; {counts}{none} ({effort})"
    if result.verdict is Verdict.INCOMPLETE:
        return f"incomplete: {result.reason}; stopped after {counts}, no bug so far ({effort})"
    only = executions.complete + executions.blocked == 1
    noun = _noun(executions) if executions.algorithm == "graphs" else "execution"
    the_only = f"the only {noun}{_of_model(result, executions)}"
    everything = the_only if only else f"all {counts}"
    if executions.blocked and not executions.complete:
        everything = the_only if only else f"all {_executions(result, executions)}"
        return f"verified: {everything}, up to {_ROUND} ({effort})"
    return f"verified: {everything} ({effort})"


def write(
    result: Result,
    to: TextIO,
    *,
    replay_with: Sequence[str] = (),
    config: str | None = None,
    color: str = "auto",
    width: int | None = None,
) -> None:
    """Write the whole report. `replay_with` are command lines that show the execution again, `config` is the file that
    options were taken from."""
    used = configured(config) if config is not None else ""
    about = _memory(result), *result.left_out, *_suppressed(result)
    notes = _remark(result), _left(result), *about, used
    remark = "\n".join(note for note in notes if note)
    if result.trace is None and not result.races and not replay_with:
        print(summary(result), *([remark] if remark else []), sep="\n", file=to)
        return
    console = open_console(to, color, width)
    style = {Verdict.OK: "bold green", Verdict.BUG: "bold red", Verdict.INCOMPLETE: "bold yellow"}[result.verdict]
    console.print(summary(result), style=style, markup=False, highlight=False, soft_wrap=True)
    if remark:
        console.print(remark, style="dim", markup=False, highlight=False, soft_wrap=True)
    bugs = [result.schedule, *(finding.schedule for finding in result.bugs)]
    _write_races([race for race in result.races if race.schedule not in bugs], console)
    if result.trace is not None:
        write_trace(result.trace, console)
    elif result.races:
        advice = f"({_advice_on_races(result.races[0])})"
        console.print(advice, style="dim", markup=False, highlight=False, soft_wrap=True)
    if len(result.bugs) > 1:
        _write_other_bugs(result, console)
    if replay_with:
        which = "it" if len(result.bugs) < 2 else "the first one"
        console.print(f"\nto see {which} again:", highlight=False)
    for command in replay_with:
        console.print(f"  {visible(command)}", markup=False, highlight=False, soft_wrap=True)


def _write_other_bugs(result: Result, console: Console) -> None:
    """All but the first, each with how it comes about if that is short."""
    others = result.bugs[1:]
    traces = 0
    for number, finding in enumerate(others[:_BUGS_SHOWN], 2):
        title = visible(f"bug {number} of {len(result.bugs)}: {_located(finding.bug)}{_sightings(finding)}")
        console.print(f"\n{title}", style="bold red", markup=False, highlight=False, soft_wrap=True)
        short = finding.trace is not None and len(finding.trace.steps) <= _SHORT_TRACE
        if short and traces < _TRACES_SHOWN:
            assert finding.trace is not None
            write_trace(finding.trace, console)
            traces += 1
        else:
            what = "its schedule, which mazurka replay shows" if finding.trace is None else "its trace and its schedule"
            console.print(f"(--json has {what})", style="dim", highlight=False)
    if len(others) > _BUGS_SHOWN:
        console.print(f"\n… and {len(others) - _BUGS_SHOWN} more, which --json has", highlight=False)


def _sightings(finding: Finding) -> str:
    return f", in {counted(finding.executions, 'execution')}" if finding.executions is not None else ""


def configured(config: str) -> str:
    return f"options were taken from {visible(config)}"


def _suppressed(result: Result) -> Iterator[str]:
    if result.suppressed:
        yield f"{counted(result.suppressed, 'data race')} suppressed"
    # Where not everything was covered, they might still have come.
    idle = [suppression.pattern for suppression in result.suppressions if not suppression.races]
    if idle and result.verdict is Verdict.OK:
        what = "a suppression matches" if len(idle) == 1 else "suppressions match"
        yield f"{what} no data race, and could be removed: {visible(', '.join(idle))}"


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
            explored = f"{_explored_states(result, states)}{_first_of_several(result)}, " if result.bug else ""
            effort = _effort_for_states(states) + _not_looked_for(result, states)
            return explored + effort + _choice_of_engine(states) + _advice_on_states(result, states)
        case Executions(algorithm="replay"):
            return ""
        case executions:
            if result.bug is None:
                return ""
            explored = f"{_executions(result, executions)} explored{_cut_short(executions)}"
            reason = f"; {result.reason}" if result.reason else ""
            return f"{explored} ({_effort(result, executions)}{reason}){_first_of_several(result)}"


def _left(result: Result) -> str:
    """Who still waits when the process ends, which is no deadlock but may be none that was meant."""
    if not result.left or result.bug:
        return ""
    one = len(result.left) == 1
    who = "a thread still waits" if one else f"{len(result.left)} threads still wait"
    waits = (
        f"{wait} ({wait.file}:{wait.line})" if wait.file and wait.what != "loop" else str(wait) for wait in result.left
    )
    return visible(f"note: {who} when main returns, which ends {'it' if one else 'them'}: {'; '.join(waits)}")


def _memory(result: Result) -> str:
    """What the memory model leaves to be said about what was covered."""
    if result.memory_model == "sc":
        asked = _asked_for(result.weak_orders)
        return f"the effects of {asked[0]} were not explored, only interleavings{asked[1]}" if asked else ""
    if result.bug is not None or _is_replay(result):
        return ""
    if result.why_interleavings is not None and result.verdict is Verdict.OK:
        return f"{result.why_interleavings}: without data races, {result.memory_model} has only interleavings"
    coverage = result.coverage
    by_graphs = isinstance(coverage, Executions) and coverage.algorithm == "graphs"
    if isinstance(coverage, Executions) and _by_interleavings(result, coverage):
        return ""
    return _NOT_EXPLORED if by_graphs and result.memory_model == "c11" else ""


def _is_replay(result: Result) -> bool:
    return isinstance(result.coverage, Executions) and result.coverage.algorithm == "replay"


def taken_for_seq_cst(orders: Sequence[WeakOrder]) -> str:
    """What is taken for something else where schedules are about interleavings; nothing if there is no such thing."""
    asked = _asked_for(accesses_in(orders))
    return f"{asked[0]} are taken for seq_cst{asked[1]}" if asked else ""


def _asked_for(orders: Sequence[WeakOrder]) -> tuple[str, str] | None:
    """What a program asks for that is no matter to interleavings, and where, if it does."""
    if not orders:
        return None
    fences = ["fences"] if any(order.operation == "fence" for order in orders) else []
    others = ["memory orders weaker than seq_cst"] if any(order.operation != "fence" for order in orders) else []
    places = list(dict.fromkeys((order.file, order.line) for order in orders if order.file))
    shown = ", ".join(f"{visible(PurePath(file or '').name)}:{line}" for file, line in places[:_PLACES_SHOWN])
    if len(places) > _PLACES_SHOWN:
        shown += f" and {len(places) - _PLACES_SHOWN} more"
    where = f" ({shown})" if shown else ""
    return " and ".join(others + fences), where


def _cut_short(executions: Executions) -> str:
    """How many executions were not followed to their end, so that there may be more bugs than were found."""
    parts = [(executions.beyond, "at a limit"), (executions.bounded, "at the bound on loops")]
    (count, where), *others = [part for part in parts if part[0]] or [(0, "")]
    if not count:
        return ""
    stop = f", {count:,} of which {'stops' if count == 1 else 'stop'} {where}"
    return stop + "".join(f" and {count:,} {where}" for count, where in others)


def _first_of_several(result: Result) -> str:
    if len(result.bugs) < 2:
        return ""
    return f"; {len(result.bugs)} different bugs, this is the first{_sightings(result.bugs[0])}"


def _explored_states(result: Result, states: States) -> str:
    count = counted(states.visited, "state")
    if states.finished and states.sound:
        return f"all {count} covered ({duration(result.seconds)})"
    return f"{count} visited ({duration(result.seconds)}{f'; {result.reason}' if result.reason else ''})"


def _effort_for_states(states: States) -> str:
    by = f"the reduction {states.reduction}" if states.sound else f"{_UNSOUND}, which can miss bugs"
    exact = ", on exact states" if states.exact else ""
    passed_over = [
        what for what, looked in (("data races", states.races), ("livelocks", states.livelocks)) if not looked
    ]
    others = f"; {' and '.join(passed_over)} were not looked for" if passed_over else ""
    return (
        f"{counted(states.transitions, 'transition')}, depth {states.deepest:,} at most, {format_size(states.memory)}, "
        f"by {by}{exact}{others}"
    )


def _not_looked_for(result: Result, states: States) -> str:
    """Accesses can race that are never side by side, with weaker orders for example, and only such are seen."""
    apart = states.races and (result.weak_orders or ("races" in states.may_miss and not result.bug))
    text = "; data races between accesses that are never side by side were not looked for" if apart else ""
    if "livelocks" in states.may_miss and not result.bug:
        text += "; livelocks among very many states were not looked for"
    return text


def _choice_of_engine(states: States) -> str:
    return f"\nby the engine stateful, since {states.handed_over}" if states.handed_over else ""


def _advice_on_states(result: Result, states: States) -> str:
    """A large number of states suggests that much was tried. Not so where one thread counts, and that is all."""
    deeper = states.visited > _MANY_STATES and states.deepest >= _MOSTLY_DEEPER * states.transitions
    if result.bug or states.finished or not deeper:
        return ""
    beyond = f"beyond {states.covered_depth} steps from the start, " if states.covered_depth else ""
    return (
        "\nnearly every step led to a new state, further from the start: it seems that something keeps growing, and "
        f"{beyond}other ways were hardly tried; try --engine stateless with --unroll N or --algorithm random"
    )


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


# What is explored by algorithms that do not go through executions up to equivalence.
_ALIKE = "threads are alike"  # as `pop` says it when it leaves a program to `optimal` for that
_NOUNS = {"exhaustive": "interleaving", "random": "random execution", "graphs": "execution graph"}
_CLASS, _CLASSES = "reads-from class", "reads-from classes"


def _noun(executions: Executions) -> str:
    return _CLASS if executions.equivalence == "reads-from" else _NOUNS.get(executions.algorithm, "execution")


def _executions(result: Result, executions: Executions) -> str:
    """How much was covered: "3,432 executions", "12 of about 100 interleavings", "3 execution graphs of c11"."""
    whole, estimate = executions.complete + executions.blocked, executions.estimate
    noun = _noun(executions)
    of_all = f" of {about(estimate)}" if estimate and result.verdict is Verdict.INCOMPLETE else ""
    several = _CLASSES if noun == _CLASS else f"{noun}s"
    return f"{whole:,}{of_all} {noun if whole == 1 and not of_all else several}{_of_model(result, executions)}"


def _of_model(result: Result, executions: Executions) -> str:
    # Interleavings, which are all that there are.
    model = "sc" if _by_interleavings(result, executions) else result.memory_model
    return f" of {model}" if executions.algorithm == "graphs" else ""


def _by_interleavings(result: Result, executions: Executions) -> bool:
    return executions.equivalence == "reads-from" and result.memory_model == MEMORY.default


def _counts(result: Result, executions: Executions) -> str:
    """The same, with what is special about some of them."""
    text, whole = _executions(result, executions), executions.complete + executions.blocked
    bounded, assumed = executions.bounded, executions.assumed
    looping = executions.blocked - bounded - assumed
    stopped = [
        (executions.beyond, "at a limit"),
        (bounded, "at the bound on loops"),
        (assumed, "at a false assumption"),
        (looping, _ROUND),
    ]
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
    known = executions.algorithm in (ALGORITHM.default, "replay", *_NOUNS)
    by = "" if known else f", by the algorithm {executions.algorithm}"
    by += f", since {executions.handed_over}" if executions.handed_over else ""
    jobs = f", {executions.jobs} jobs" if executions.jobs > 1 else ""
    # Most programs have threads that are alike, and nothing is lost by another algorithm, unless it is jobs.
    why = executions.handed_over or ""
    if why.startswith(_ALIKE) and not why.endswith(ONE_JOB):
        by = ""
    return duration(result.seconds) + jobs + given_up + _told_apart(executions) + by


def _told_apart(executions: Executions) -> str:
    if executions.told_apart is None or not executions.finished:
        return ""
    many = sum(executions.told_apart)
    return f", {'more than ' if many >= 2**64 - 1 else ''}{many:,} with threads told apart that are alike"


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


def _advice_on_races(race: Race) -> str:
    """What can be done about a data race, by the example of one."""
    meant = shlex.quote(visible(f"object:{race.object}"))
    return (
        f"--races error makes data races bugs, and shows how one comes about; --suppress-race {meant} leaves this one "
        "out; function:NAME, file:NAME and a mazurka.toml work, too"
    )


# ------------------------------------------------------------------------------------------------ the trace


@dataclass(frozen=True, slots=True)
class _Row:
    """What a trace shows in one cell: the thread, the place, and what happens. It stands for so many `steps`; `note` is
    what is said about those that are left out before it."""

    thread: str
    where: str
    cell: Text
    distance: int | None = None
    always: bool = False
    steps: int = 1
    omitted: int = 0
    note: str = ""


def write_trace(trace: Trace, console: Console) -> None:
    _write_setup([step for step in trace.steps if _is_setup(step)], console)
    rows = _shown(_folded(trace))
    rows += [
        _Row(wait.thread, _where(wait), _waiting_cell(wait, _wants(trace, wait)), always=True) for wait in trace.waiting
    ]
    acting = {row.thread for row in rows}
    threads = [thread for thread in trace.threads if thread.name in acting]
    where = max((len(row.where) for row in rows), default=0)
    if threads:
        room = (console.width - where - 2) // len(threads) - 3
        if room >= _NARROWEST_COLUMN or len(threads) == 1:
            _write_columns(rows, {thread.name: _title(thread, room) for thread in threads}, console)
        else:
            _write_list(rows, {thread.name: _title(thread, console.width) for thread in threads}, console)
    if trace.cycle:
        console.print(f"\neach waits for the next: {' → '.join([*trace.cycle, trace.cycle[0]])}", highlight=False)
    if trace.order:
        _write_order(trace.order, console)
    if trace.weak:
        console.print(f"\n{visible(trace.weak)}", markup=False, highlight=False, soft_wrap=True)
    if trace.output:
        console.print("\nthe program printed:", highlight=False)
        for line in trace.output.removesuffix("\n").split("\n"):
            console.print(f"  {visible(line)}", markup=False, highlight=False, soft_wrap=True)


def _title(thread: Thread, room: int) -> str:
    """The head of a column of this width, in two lines at most: what a function is in is less than what it is."""
    title = visible(str(thread))
    function = thread.function or ""
    while len(title) > room and "::" in function:
        function = function.partition("::")[2]
        title = visible(str(replace(thread, function=function)))
    return title if len(title) <= 2 * room else f"{title[: 2 * room - 1]}…"


def _is_setup(step: TraceStep) -> bool:
    """Whether a step is summed up. Not if something is chosen there: what went wrong may come of it."""
    return step.setup and not step.failed and not any(action.kind == "choose" for action in step.actions)


def _folded(trace: Trace) -> list[_Row]:
    """All steps, but of rounds that are alike the first, and how many more there are."""
    steps = [step for step in trace.steps if not _is_setup(step)]
    marks = [_marks(trace, step) for step in steps]
    # Where something is told about steps, they need their numbers.
    width = len(str(steps[-1].step)) if steps and (trace.weak or trace.reads_overwritten) else 0
    rows: list[_Row] = []
    for run in fold([_shape(step, mark) for step, mark in zip(steps, marks, strict=True)]):
        for step, mark in list(zip(steps, marks, strict=True))[run.start : run.start + run.period]:
            always, cell = step.failed or bool(mark), _cell(step, mark)
            where = f"{step.step:{width}} {_where(step)}" if width else _where(step)
            rows.append(_Row(step.thread, where, cell, step.distance, always, omitted=step.omitted))
        if run.rounds > 1:
            more = steps[run.start + run.period : run.end]
            near = [step.distance for step in more if step.distance is not None]
            last = more[-run.period :]
            cell = _rounds_cell(run, steps[run.start : run.start + run.period], last)
            rows.append(_Row(last[-1].thread, "↻", cell, min(near, default=None), steps=len(more)))
    return rows


def _shape(step: TraceStep, marks: Mapping[int, str]) -> Hashable:
    """What steps have in common that are the same line of different rounds. One that fails is like no other, and so is
    one that reads what others have overwritten."""
    if step.failed or marks or step.omitted or any(action.overwritten for action in step.actions):
        return object()
    did = tuple((action.kind, re.sub(r"\d+", "", action.object or "")) for action in step.actions)
    return step.thread, step.file, step.line, step.function, did


def _rounds_cell(run: Run, first: Sequence[TraceStep], last: Sequence[TraceStep]) -> Text:
    """How many more rounds there are, and what is different in the last one."""
    from rich.text import Text

    said = [action.text for step in first for action in step.actions]
    new = [action for step in last for action in step.actions]
    lines = [Text(f"{run.rounds - 1} more {'round' if run.rounds == 2 else 'rounds'}", style="italic")]
    different = [action.text for action, old in zip(new, said, strict=True) if action.text != old]
    if different and run.rounds > 2:
        lines[0].append(", the last one:")
    lines += [Text(f"  {visible(text)}", style="cyan") for text in different[:_ACTIONS_SHOWN]]
    return Text("\n").join(lines)


def _shown(rows: Sequence[_Row]) -> list[_Row]:
    """The rows to show, of very many only those that are nearest to what went wrong."""
    always = [number for number, row in enumerate(rows) if row.always]
    kept = nearest([row.distance for row in rows], always, _MOST_STEPS)
    shown: list[_Row] = []
    omitted = hidden = 0
    for number, row in enumerate(rows):
        omitted += row.omitted
        if number not in kept:
            hidden += row.steps
        else:
            more = f"{counted(omitted + hidden, 'step')} left out" + ("" if omitted else ", which --json shows")
            shown.append(replace(row, note=f"… {more} …" if omitted or hidden else ""))
            omitted = hidden = 0
    return shown


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


def _marks(trace: Trace, step: TraceStep) -> dict[int, str]:
    """Signs at the actions of a step whose order mattered."""
    moments = [("①", trace.order.first), ("②", trace.order.second)] if trace.order else []
    return {moment.at[1]: sign for sign, moment in moments if moment.at and trace.steps[moment.at[0]] is step}


def _wants(trace: Trace, wait: Wait) -> str:
    """A sign at what a thread waits for in vain, if it mattered that another one was there before."""
    second = trace.order.second if trace.order else None
    is_meant = second and second.at is None and (second.thread, second.line) == (wait.thread, wait.line)
    return "② " if is_meant else ""


def _write_order(order: Order, console: Console) -> None:
    console.print(f"\nthe order mattered: {visible(str(order))}", markup=False, highlight=False)
    if order.needed:
        why = "the other way round, nothing went wrong in any way that was tried"
    else:
        why = "after that, all that was tried went wrong; the other way round, not all of it did"
    console.print(f"({why})", style="dim", highlight=False)


def _write_columns(rows: Sequence[_Row], titles: Mapping[str, str], console: Console) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, show_edge=False, highlight=False)
    table.add_column("", style="dim", no_wrap=True)
    for title in titles.values():
        table.add_column(title, overflow="fold")
    order = list(titles)

    for row in rows:
        if row.note:
            table.add_row("…", row.note)
        cells = [Text()] * len(order)
        cells[order.index(row.thread)] = row.cell
        table.add_row(row.where, *cells)
    console.print()
    console.print(table)


def _write_list(rows: Sequence[_Row], titles: Mapping[str, str], console: Console) -> None:
    """Where there is no room for columns: one step below the other, a heading wherever the thread changes."""
    from rich.table import Table
    from rich.text import Text

    width = max(len(row.where) for row in rows)
    current = None
    for row in rows:
        if row.note:
            console.print(f"\n{row.note}", highlight=False)
        if row.thread != current:
            console.print(Text(f"\n{titles[row.thread]}", style="bold"))
            current = row.thread
        line = Table.grid(padding=(0, 2))
        line.add_column(style="dim", width=width)
        line.add_column(overflow="fold")
        line.add_row(row.where, row.cell)
        console.print(line)


def _where(at: TraceStep | Wait) -> str:
    return f"{visible(PurePath(at.file).name)}:{at.line}" if at.file else ""


def _cell(step: TraceStep, marks: Mapping[int, str]) -> Text:
    """The statement, and below it what it did. What the statement says itself is only told if it has a mark."""
    from rich.text import Text

    lines = [Text(step.statement, style="bold" if step.failed else "")] if step.statement else []
    indent = "  " if step.statement else ""
    told: list[tuple[str, str]] = []
    for number, action in enumerate(step.actions):
        text = visible(_shorter(action, step.statement))
        if number in marks:
            told.append((action.kind, f"{marks[number]} {text or visible(action.told)}"))
        elif text:
            told.append((action.kind, text))
    hidden = len(told) - _ACTIONS_SHOWN
    for number, (kind, text) in enumerate(told):
        if hidden > 0 and number == _ACTIONS_SHOWN // 2:
            lines.append(Text(f"{indent}… {hidden} more …", style="dim"))
        if hidden <= 0 or not 0 <= number - _ACTIONS_SHOWN // 2 < hidden:
            wrong = kind in ("fail", "race")
            lines.append(Text(f"✗ {text}", style="bold red") if wrong else Text(indent + text, style="cyan"))
    return Text("\n").join(lines)


def _waiting_cell(wait: Wait, sign: str) -> Text:
    from rich.text import Text

    lines = [Text(wait.statement)] if wait.statement else []
    told = str(wait).removeprefix(wait.thread).strip().replace(f"the loop at {wait.file}:{wait.line}", "this loop")
    return Text("\n").join([*lines, Text(f"✗ {sign}{told}", style="bold red")])


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
