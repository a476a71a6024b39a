"""From source files to a verdict."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from mazurka import options
from mazurka.deadline import Deadline, OutOfTime
from mazurka.engines import choosing, running, stateful, stateless
from mazurka.engines.outcome import BEYOND, Found, Outcome
from mazurka.errors import InputError
from mazurka.executions.schedule import Schedule, Transformations
from mazurka.leeway import USUAL, Leeway
from mazurka.program.orders import accesses_in, exceeds_interleavings, has_atomics, weak_orders_of
from mazurka.program.program import Program
from mazurka.result import SUFFICIENT, Bug, Executions, Finding, Limit, Race, Result, States, Verdict
from mazurka.suppressions import STANDARD_STREAMS, Suppressions
from mazurka.transforms.loops.staying import loops_stay

if TYPE_CHECKING:
    from mazurka.executions.replaying import Replay
    from mazurka.executions.trace import Trace, Wait
    from mazurka.frontends.c import Compiled
    from mazurka.machine.lowering import Lowered
    from mazurka.transforms.loops.report import LoopFate

# A program as it is explored, and what was done to it before.
_Prepared: TypeAlias = "tuple[Program, Lowered, Transformations]"

Files = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def load(
    files: Files | Compiled,
    *,
    compiler_arguments: Sequence[str] = (),
    program_arguments: Sequence[str] = (),
    cc: str | None = None,
    purity: bool = True,
    awaits: bool = True,
    unroll: int | None = None,
    memory: str = "c11",
    overflow: bool = True,
    alignment: bool = True,
    member_bounds: bool = True,
    spurious: bool = False,
    failing_malloc: bool = False,
    reuse_addresses: bool = False,
    nondet: str | None = None,
    stdin: str | None = None,
    compat: str | None = None,
) -> Program:
    """Compile C or C++ source files (or read .ll and .bc files) into one program, ready to be explored under a `memory`
    model. `purity`, `awaits` and `unroll` say what is done about its loops: see `transforms.prepare`; the others, what
    is made of what C leaves open, as for `check`."""
    from mazurka.transforms import prepare

    leeway = options.picked(Leeway, options.chosen(options.LEEWAY, locals()))
    options.UNROLL.check(unroll)
    options.MEMORY.check(memory)
    program = _compile(files, compiler_arguments, program_arguments, cc, leeway)
    return prepare(program, **Transformations(purity, awaits, unroll).under(memory, program).options)


def explain_loops(
    files: Files | Compiled,
    *,
    compiler_arguments: Sequence[str] = (),
    program_arguments: Sequence[str] = (),
    cc: str | None = None,
    memory: str = "c11",
) -> list[LoopFate]:
    """What becomes of each loop of a program that is explored under a `memory` model, as `mazurka loops` tells it."""
    from mazurka.transforms.loops import report as loops

    options.MEMORY.check(memory)
    program = _compile(files, compiler_arguments, program_arguments, cc, USUAL)
    return loops.explain_loops(program, weak=exceeds_interleavings(program, memory))


def check(
    source: Program | Files | Compiled,
    *,
    compiler_arguments: Sequence[str] = (),
    program_arguments: Sequence[str] = (),
    cc: str | None = None,
    engine: str = "auto",
    memory: str = "c11",
    uninitialised: bool = True,
    overflow: bool = True,
    alignment: bool = True,
    member_bounds: bool = True,
    spurious: bool = False,
    failing_malloc: bool = False,
    reuse_addresses: bool = False,
    nondet: str | None = None,
    stdin: str | None = None,
    compat: str | None = None,
    leaks: bool = False,
    any_status: bool = False,
    keep_going: bool = False,
    timeout: float | None = None,
    races: str = "warn",
    suppress_race: Sequence[str] | None = None,
    allow_livelock: bool = False,
    progress: Callable[[stateless.Progress], None] | Callable[[stateful.StateProgress], None] | None = None,
    algorithm: str | None = None,
    equivalence: str | None = None,
    jobs: int | str = 1,
    seed: int | None = None,
    commute: bool = True,
    symmetry: bool = True,
    purity: bool = True,
    awaits: bool = True,
    unroll: int | None = None,
    max_executions: int | None = None,
    max_steps: int | None = None,
    reduction: str | None = None,
    exact: bool = False,
    max_memory: int | None = None,
    max_states: int | None = None,
) -> Result:
    """Execute a program in every way that a `memory` model allows, the one of C unless another is named. `source` is a
    file, several files, or a `Program`.

    `compiler_arguments` are what a C compiler takes (`["-DN=3", "-Iinclude"]`), `program_arguments` are the program's
    `argv[1]` and on. The engine "stateless" covers all executions, the engine "stateful" all states, also those of a
    program that never ends; "auto" takes the one that fits the options and the program. `mazurka check --help` says
    what the options do, each under its name on the command line; those of one engine come after `progress`, `reduction`
    and what follows for the latter. `purity`, `awaits` and `unroll` say what is done about the loops of files, as for
    `load`; a `Program` is explored as it is. `progress` is called about ten times a second, from the thread that called
    `check`. Ctrl-C ends the search with the verdict "incomplete", or with the bug if it has found one. Raises
    `InputError` for whatever cannot be checked, and for options that the engine has no use for.
    """
    given = dict(locals())
    chosen = options.chosen(options.SEARCH, given)
    given["memory"] = chosen["memory"]
    engine = options.fitting_engine(given)
    compiling = {"compiler_arguments": compiler_arguments, "program_arguments": program_arguments, "cc": cc}
    suppressions = Suppressions(chosen["suppress_race"])
    checking = _Check(source, compiling, given, chosen, progress, options.picked(Leeway, chosen), suppressions)
    return checking.states() if engine == "stateful" else checking.executions(hand_over=engine == "auto")


@dataclass(slots=True)
class _Check:
    """What is to be checked, and how: what was `given`, and what that comes to with all that was not; since when, and
    until when, which is settled as soon as the program is there."""

    source: Program | Files | Compiled
    compiling: dict[str, Any]
    given: dict[str, Any]
    chosen: dict[str, Any]
    progress: Callable[[Any], None] | None
    leeway: Leeway
    suppressions: Suppressions
    start: float = field(default_factory=time.monotonic)
    deadline: Deadline | None = None

    def executions(self, hand_over: bool) -> Result:
        """The answer of the stateless engine; or, with `hand_over`, of the other one if the program does not end."""
        asked = Transformations(*(self.chosen[name] for name in ("purity", "awaits", "unroll")))
        program, lowered, transforms = self._lower(asked)
        self.deadline = self.deadline or Deadline.after(self.chosen["timeout"])
        chosen = options.picked(stateless.Options, self.chosen)
        if chosen.equivalence == "reads-from":
            chosen, hand_over = replace(chosen, algorithm="graphs", memory=self._ordered_memory(program)), False
        elif exceeds_interleavings(program, chosen.memory):
            self._refuse_interleavings(program)
            chosen, hand_over = replace(chosen, algorithm="graphs"), False
        hand_over = hand_over and (not isinstance(self.source, Program) or stateful.fits(lowered))
        if hand_over and loops_stay(program):
            if endless := choosing.endless_at(lowered, self.deadline):
                return self.hand_over(endless)
            chosen = replace(chosen, max_steps=min(chosen.max_steps, choosing.MOST_STEPS))
        passes_over = self._suppressing(program, lowered, transforms)
        outcome = stateless.explore(lowered, chosen, self.deadline, self.progress, passes_over, until_endless=hand_over)
        outcome = replace(outcome, coverage=replace(outcome.coverage, unroll=self.chosen["unroll"]))
        outcome = outcome.after(transforms, self.leeway, self.chosen["memory"])
        result = self._judge(program, lowered, outcome, max_steps=chosen.max_steps)
        endless_limit = result.limit is not None and result.limit.kind == "too_many_steps"
        if hand_over and endless_limit and result.bug is None and outcome.reason == BEYOND:
            assert result.limit is not None
            return self.hand_over(result.limit.message.partition(";")[0], result.races)
        return result

    def hand_over(self, why: str, races: Sequence[Race] = ()) -> Result:
        """The answer of the stateful engine about a program that does not seem to end; `races` are the data races that
        the stateless one has met. If there are too many states, it may be that one can do it after all."""
        result = self.states(why)
        if result.verdict is Verdict.INCOMPLETE and result.states.exhausted:
            executions = self.executions(hand_over=False)
            if executions.verdict is not Verdict.INCOMPLETE:
                return executions
            races = executions.races
        return replace(result, races=_distinct([*races, *result.races]), seconds=time.monotonic() - self.start)

    def states(self, why: str | None = None) -> Result:
        """The answer of the stateful engine, and `why` it was left to that one."""
        is_file = not isinstance(self.source, Program)
        asked = Transformations(purity=False, awaits=False) if is_file else Transformations()
        program, lowered, transforms = self._lower(asked)
        if exceeds_interleavings(program, self.chosen["memory"]):
            self._refuse_interleavings(program)
        self.deadline = self.deadline or Deadline.after(self.chosen["timeout"])
        chosen, left = options.picked(stateful.Options, self.chosen), why is not None
        passes_over = self._suppressing(program, lowered, transforms)
        outcome = stateful.explore(lowered, chosen, self.deadline, self.progress, passes_over, until_growth=left)
        outcome = replace(outcome, coverage=replace(outcome.coverage, handed_over=why))
        return self._judge(program, lowered, outcome.after(transforms, self.leeway, self.chosen["memory"]))

    def _lower(self, transforms: Transformations) -> _Prepared:
        return _lower(
            self.source, **self.compiling, transforms=transforms, leeway=self.leeway, memory=self.chosen["memory"]
        )

    def _ordered_memory(self, program: Program) -> str:
        """The memory model for reads-from classes: that of C has to be the one of interleavings."""
        memory: str = self.chosen["memory"]
        if memory != options.MEMORY.default:
            return memory
        if exceeds_interleavings(program, memory):
            raise InputError(
                f"--equivalence reads-from is for --memory sc and tso, but the program asks for weaker orders than "
                f"seq_cst{_weak_at(program)}: leave it out, or choose one of these"
            )
        return "sc"

    def _refuse_interleavings(self, program: Program) -> None:
        """No option may ask for interleavings if a program has more executions than these."""
        where = _weak_at(program)
        if self.chosen["memory"] == options.MEMORY.default:
            options.refuse_interleavings(self.given, f"the program asks for weaker orders than seq_cst{where}")

    def _suppressing(self, program: Program, lowered: Lowered, transforms: Transformations) -> _Suppressing | None:
        if not self.suppressions and STANDARD_STREAMS.isdisjoint(program.globals):
            return None
        return _Suppressing(program, lowered, self.suppressions, transforms, self.chosen["uninitialised"])

    def _judge(
        self, program: Program, lowered: Lowered, outcome: Outcome[Executions] | Outcome[States], **other: Any
    ) -> Result:
        """What a search has found, as an answer; it may have been a search with `other` options than those chosen."""
        assert self.deadline is not None
        memory, coverage = self.chosen["memory"], outcome.coverage
        by_graphs = isinstance(coverage, Executions) and coverage.algorithm == "graphs"
        by_graphs &= memory != options.MEMORY.default or self.chosen["equivalence"] != "reads-from"
        judging = {option.keyword: self.chosen[option.keyword] for option in options.JUDGING} | other
        told = _tell(program, lowered, outcome, self.deadline.extended(), judging)
        looked_for_races = self.chosen["races"] != "ignore"
        if self.chosen["keep_going"] and self.chosen["races"] == "error":
            told = replace(told, bugs=_distinct_bugs([*told.bugs, *map(_finding, told.races)]))
        return Result.judged(
            bug=told.bug,
            limit=told.limit,
            reason=outcome.reason or told.stopped,
            coverage=coverage,
            memory_model=memory,
            why_interleavings=None if by_graphs or memory == "sc" or not has_atomics(program) else SUFFICIENT,
            seconds=time.monotonic() - self.start,
            trace=told.trace,
            schedule=told.schedule,
            races=told.races,
            weak_orders=weak_orders_of(program),
            left_out=program.left_out,
            suppressed=self.suppressions.races,
            suppressions=self.suppressions.uses if looked_for_races else (),
            bugs=told.bugs,
            left=told.left,
        )


def _weak_at(program: Program) -> str:
    """Where a program asks for a weaker order than seq_cst first, if that has a line."""
    first = next((order for order in accesses_in(weak_orders_of(program)) if order.file), None)
    return f" (at {os.path.basename(first.file or '')}:{first.line})" if first else ""


def replay(
    source: Program | Files | Compiled,
    schedule: Schedule,
    *,
    compiler_arguments: Sequence[str] = (),
    program_arguments: Sequence[str] = (),
    cc: str | None = None,
    allow_livelock: bool = False,
    uninitialised: bool = True,
    leaks: bool = False,
    any_status: bool = False,
    max_steps: int | None = None,
) -> Result:
    """Execute a program once more, exactly as `schedule` says, after the same transformations. The result is about this
    one execution: a bug if it shows one, incomplete if it meets a limit of Mazurka or the bound on loops, or if the
    schedule ends before the program does. Raises `InputError` for a schedule that does not fit the program."""
    from mazurka.executions.replaying import replay_schedule

    judging = options.chosen(options.JUDGING, locals())
    start = time.monotonic()
    transforms = schedule.transforms if not isinstance(source, Program) else Transformations()
    leeway, inputs = schedule.leeway, schedule.inputs
    program, lowered, _ = _lower(source, compiler_arguments, program_arguments, cc, transforms, leeway, inputs)
    replayed = replay_schedule(program, lowered, schedule, **judging)
    end = replayed.end
    early = not end.ended and end.bug is None
    return Result.judged(
        bug=end.bug,
        limit=end.limit,
        reason="the schedule ends before the program does" if early else None,
        coverage=Executions(
            algorithm="replay",
            finished=end.ended,
            complete=int(end.ended and not end.blocked),
            blocked=int(end.blocked),
            bounded=int(end.bounded),
            assumed=int(end.assumed),
            unroll=schedule.transforms.unroll,
        ),
        memory_model=schedule.memory,
        seconds=time.monotonic() - start,
        trace=replayed.trace,
        schedule=schedule,
        weak_orders=weak_orders_of(program),
        left_out=program.left_out,
        left=end.left,
    )


@dataclass(frozen=True, slots=True)
class _Suppressing:
    """Says of the schedule of a data race whether nobody wants to hear of it."""

    program: Program
    lowered: Lowered
    suppressions: Suppressions
    transforms: Transformations
    uninitialised: bool

    def __call__(self, race: Schedule) -> bool:
        from mazurka.executions.replaying import tell_race

        schedule = replace(race, transforms=self.transforms)
        return self.suppressions.match(
            tell_race(self.program, self.lowered, schedule, uninitialised=self.uninitialised)
        )


@dataclass(frozen=True, slots=True)
class _Told:
    """What a search has found, in words: the first bug, or else the `limit` that an execution met: of a program that
    needs more room or time than there is, nobody can say that it is wrong. `left` are threads that still wait when
    `main` returns. `stopped`: why it is not all told."""

    schedule: Schedule | None
    bug: Bug | None = None
    limit: Limit | None = None
    trace: Trace | None = None
    races: tuple[Race, ...] = ()
    left: tuple[Wait, ...] = ()
    stopped: str | None = None
    bugs: tuple[Finding, ...] = ()


def _tell(
    program: Program,
    lowered: Lowered,
    outcome: Outcome[Executions] | Outcome[States],
    deadline: Deadline,
    judging: dict[str, Any],
) -> _Told:
    """Replay what was found. Whoever has no more patience, time or memory gets as much as there is."""
    from mazurka.executions.replaying import replay_schedule, tell_race

    found = outcome.bug or outcome.limit
    told = _Told(None if found is None else found.schedule)
    races: list[Race] = []
    others: list[Finding] = []
    try:
        if found is not None:
            schedule, shown = _shown(program, lowered, found, deadline, judging)
            told = replace(told, schedule=schedule, bug=shown.end.bug, limit=shown.end.limit, trace=shown.trace)
            if told.bug is None and (told.limit is None or outcome.bug is not None):
                raise AssertionError("what the search found does not show when its schedule is replayed")
        elif outcome.left is not None:
            shown = replay_schedule(program, lowered, outcome.left, deadline=deadline, **judging)
            told = replace(told, left=shown.end.left)
        for race in outcome.races:
            uninitialised = judging["uninitialised"]
            races.append(tell_race(program, lowered, race, uninitialised=uninitialised, deadline=deadline))
        for other in outcome.others:
            schedule, shown = _shown(program, lowered, other, deadline, judging)
            if shown.end.bug is not None:  # (a thread that met a limit, after another one had failed, shows none)
                others.append(Finding(shown.end.bug, other.executions, schedule, shown.trace))
    except InputError as error:
        raise AssertionError(f"what the search found cannot be replayed: {error}") from error
    except KeyboardInterrupt:
        told = replace(told, stopped=running.INTERRUPTED)
    except OutOfTime:
        told = replace(told, stopped=deadline.reason)
    except MemoryError:
        told = replace(told, stopped=running.NO_MEMORY)
    if told.stopped is not None and found is not None and told.trace is None:
        told = _untold(told, found, outcome.bug is not None)
    if told.bug is not None:  # (also where the search met a limit, and a replay shows that it is a livelock)
        assert found is not None
        first = Finding(told.bug, found.executions, told.schedule, told.trace)
        told = replace(told, bugs=_distinct_bugs([first, *others]))
    return replace(told, races=_distinct(races))


def _shown(
    program: Program, lowered: Lowered, found: Found, deadline: Deadline, judging: dict[str, Any]
) -> tuple[Schedule, Replay]:
    """What was found, shown by a replay: as an interleaving where that shows it, too. Data races stay as they are, to
    be the same as those that are told beside."""
    from mazurka.executions.interleaving import Unknown, as_interleaving
    from mazurka.executions.replaying import replay_schedule

    def replayed(schedule: Schedule) -> Replay:
        return replay_schedule(program, lowered, schedule, failing=found.thread, deadline=deadline, **judging)

    if not found.schedule.is_interleaving and found.schedule.race is None:
        with suppress(Unknown, InputError):
            options_of_machine = (judging[name] for name in ("uninitialised", "leaks", "any_status"))
            plain = as_interleaving(lowered, found.schedule, *options_of_machine)
            if plain is not None and (shown := replayed(plain)).end.bug is not None:
                return plain, shown
    return found.schedule, replayed(found.schedule)


def _finding(race: Race) -> Finding:
    second = race.second
    return Finding(Bug("race", str(race), second.file, second.line, second.thread), None, race.schedule)


def _distinct_bugs(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The search tells code and threads apart. For a person, the kind, the place and the message count."""
    distinct: dict[tuple[Any, ...], Finding] = {}
    for finding in findings:
        bug = finding.bug
        key = bug.kind, bug.file, bug.line, bug.message
        first = distinct.setdefault(key, finding)
        if first is not finding and first.executions is not None and finding.executions is not None:
            # (At most: an execution in which threads fail alike, but not in the same call, counts for each.)
            distinct[key] = replace(first, executions=first.executions + finding.executions)
    return tuple(distinct.values())


def _untold(told: _Told, found: Found, is_bug: bool) -> _Told:
    """The bug or the limit of an execution that was not replayed to its end."""
    count, kind = len(found.schedule.steps), found.kind
    where = f"{count:,} step{'' if count == 1 else 's'} from the start; {told.stopped} before it could be told in words"
    if is_bug:
        return replace(told, bug=Bug(kind, f"a failure ({kind}) was found, {where}", None, None, None))
    return replace(told, limit=Limit(kind, f"a limit of Mazurka ({kind.replace('_', ' ')}) was met, {where}"))


def _distinct(races: Sequence[Race]) -> tuple[Race, ...]:
    """The search tells instructions apart. For a person, one race in the same lines on the same variable is enough."""
    distinct: dict[tuple[Any, ...], Race] = {}
    for race in races:
        distinct.setdefault(race.identity, race)
    return tuple(distinct.values())


def _compile(
    files: Files | Compiled,
    compiler_arguments: Sequence[str],
    program_arguments: Sequence[str],
    cc: str | None,
    leeway: Leeway,
    inputs: bool = False,
) -> Program:
    from mazurka.frontends.c import Compiled, load_c_program

    return load_c_program(
        file_list(files) if not isinstance(files, Compiled) else files,
        compiler_arguments=compiler_arguments,
        program_arguments=program_arguments,
        cc=cc,
        leeway=leeway,
        inputs=inputs,
    )


def printed(source: Files | Compiled, *, program_arguments: Sequence[str] = ()) -> str:
    """What a program prints, in one of its executions. Raises `InputError` if it fails."""
    from mazurka.executions import once

    program, lowered, _ = _lower(source, (), program_arguments, None, Transformations(), USUAL)
    return once.printed(program, lowered)


def file_list(files: Files) -> list[str | os.PathLike[str]]:
    """A file or several, as a list."""
    return [files] if isinstance(files, str | os.PathLike) else list(files)


def file_names(files: Files) -> list[str]:
    return [os.fspath(path) for path in file_list(files)]


def _lower(
    source: Program | Files | Compiled,
    compiler_arguments: Sequence[str],
    program_arguments: Sequence[str],
    cc: str | None,
    transforms: Transformations,
    leeway: Leeway,
    inputs: bool = False,
    memory: str = "sc",
) -> _Prepared:
    """A program, ready to be explored under a `memory` model."""
    from mazurka.frontends.c import with_arguments
    from mazurka.machine.lowering import lower
    from mazurka.program.validate import InvalidProgram
    from mazurka.transforms import prepare

    if not isinstance(source, Program | str | os.PathLike | Sequence):
        key = transforms, leeway, inputs, memory, len(program_arguments)
        if key not in source.kept:
            program = _compile(source, (), program_arguments, None, leeway, inputs)
            transforms = transforms.under(memory, program)
            prepare(program, **transforms.options)
            source.kept[key] = program, lower(program), transforms
        program, lowered, transforms = source.kept[key]
        called = with_arguments(program, program_arguments)
        return called, replace(lowered, code=lowered.code_of(called)), transforms
    if not isinstance(source, Program):
        program = _compile(source, compiler_arguments, program_arguments, cc, leeway, inputs)
        transforms = transforms.under(memory, program)
        prepare(program, **transforms.options)
        return program, lower(program), transforms
    if transforms != Transformations() or leeway != USUAL:
        words = [option.keyword for option in (*options.LOOPS, *options.LEEWAY)]
        told = f"{', '.join(words[:-1])} and {words[-1]}"
        raise InputError(f"{told} are for files: a Program is explored as it is (mazurka.load takes these options)")
    try:
        return source, lower(source), transforms
    except InvalidProgram as error:
        raise InputError(f"not a well-formed program: {error}") from None
