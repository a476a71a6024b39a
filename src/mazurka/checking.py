"""From source files to a verdict."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from mazurka.engines import stateful, stateless
from mazurka.errors import InputError
from mazurka.program.program import Program
from mazurka.result import Bug, Executions, Race, Result, States, Verdict
from mazurka.schedule import Schedule, Transformations

if TYPE_CHECKING:
    from mazurka.loops import LoopFate
    from mazurka.replaying import Replay
    from mazurka.transforms.lowering import Lowered

Files = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

ENGINES = ("stateless", "stateful")

# The options of one engine, and why the other has no use for them. Nothing that was asked for is ignored in silence.
_ONLY_STATELESS = {
    "algorithm": "has --reduction instead (cpc, cycle-detection, unsound, none)",
    "seed": "searches in a fixed order",
    "no-commute": "tells states apart, not orders of updates",
    "unroll": "needs no bound on loops: they end where they come back to a known state",
    "races": "does not look for data races",
    "max-executions": "counts states, which --max-states limits",
    "max-steps": "has no limit on the length of executions",
}
_ONLY_STATEFUL = {
    "reduction": "has --algorithm instead (pop, optimal, exhaustive, random)",
    "exact": "stores no states",
    "max-memory": "stores no states; --timeout and --max-executions limit it",
    "max-states": "stores no states; --timeout and --max-executions limit it",
}


def load(
    files: Files,
    *,
    compiler_arguments: Sequence[str] = (),
    program_arguments: Sequence[str] = (),
    cc: str | None = None,
    purity: bool = True,
    awaits: bool = True,
    unroll: int | None = None,
) -> Program:
    """Compile C or C++ source files (or read .ll and .bc files) into one program, ready to be explored. `purity`,
    `awaits` and `unroll` say what is done about its loops: see `transforms.prepare`."""
    from mazurka.transforms import prepare

    _check_limits(unroll=unroll)
    program = _compile(files, compiler_arguments, program_arguments, cc)
    return prepare(program, purity=purity, awaits=awaits, unroll=unroll)


def explain_loops(
    files: Files,
    *,
    compiler_arguments: Sequence[str] = (),
    program_arguments: Sequence[str] = (),
    cc: str | None = None,
) -> list[LoopFate]:
    """What becomes of each loop of a program, as `mazurka loops` tells it."""
    from mazurka import loops

    return loops.explain_loops(_compile(files, compiler_arguments, program_arguments, cc))


def check(
    source: Program | Files,
    *,
    compiler_arguments: Sequence[str] = (),
    program_arguments: Sequence[str] = (),
    cc: str | None = None,
    engine: str = "stateless",
    uninitialised: bool = True,
    keep_going: bool = False,
    timeout: float | None = None,
    progress: Callable[[stateless.Progress], None] | Callable[[stateful.StateProgress], None] | None = None,
    algorithm: str | None = None,
    seed: int | None = None,
    commute: bool = True,
    purity: bool = True,
    awaits: bool = True,
    unroll: int | None = None,
    allow_livelock: bool = False,
    races: str | None = None,
    max_executions: int | None = None,
    max_steps: int | None = None,
    reduction: str | None = None,
    exact: bool = False,
    max_memory: int | None = None,
    max_states: int | None = None,
) -> Result:
    """Execute a program under every interleaving of its threads. `source` is a file, several files, or a `Program`.

    `compiler_arguments` are what a C compiler takes (`["-DN=3", "-Iinclude"]`), `program_arguments` are the program's
    `argv[1]` and on. The engine "stateless" covers all executions, the engine "stateful" all states, also those of a
    program that never ends. `engines.stateless.Options` and `engines.stateful.Options` say what their options do: what
    comes after `progress` is for one of them, `reduction` and what follows for the latter. `purity`, `awaits` and
    `unroll` say what is done about the loops of files, as for `load`; a `Program` is explored as it is. `progress` is
    called about ten times a second, from the thread that called `check`. Ctrl-C ends the search with the verdict
    "incomplete", or with the bug if it has found one. Raises `InputError` for whatever cannot be checked, and for
    options that the engine has no use for.
    """
    _check_names(engine=(engine, ENGINES), algorithm=(algorithm, stateless.ALGORITHMS), races=(races, stateless.RACES))
    _check_names(reduction=(reduction, stateful.REDUCTIONS))
    if seed is not None and not 0 <= seed < 1 << 64:
        raise InputError(f"seed must be a number of 64 bits, not {seed}")
    _check_limits(timeout=timeout, unroll=unroll, max_executions=max_executions, max_steps=max_steps)
    _check_limits(max_memory=max_memory, max_states=max_states)
    asked = {
        "algorithm": algorithm is not None,
        "seed": seed is not None,
        "no-commute": not commute,
        "unroll": unroll is not None,
        "races": races not in (None, "ignore"),
        "max-executions": max_executions is not None,
        "max-steps": max_steps is not None,
        "reduction": reduction is not None,
        "exact": exact,
        "max-memory": max_memory is not None,
        "max-states": max_states is not None,
    }
    other, useless = ("stateless", _ONLY_STATELESS) if engine == "stateful" else ("stateful", _ONLY_STATEFUL)
    for option, why in useless.items():
        if asked[option]:
            raise InputError(f"--{option} is for --engine {other}; the engine {engine} {why}")

    start = time.monotonic()
    transforms = Transformations(purity, awaits, unroll)
    if engine == "stateful":
        transforms = Transformations() if isinstance(source, Program) else Transformations(purity=False, awaits=False)
    program, lowered = _lower(source, compiler_arguments, program_arguments, cc, transforms)
    watch: Callable[[Any], None] | None = progress
    coverage: Executions | States
    racing: tuple[Schedule, ...] = ()
    if engine == "stateful":
        visited = stateful.explore(
            lowered,
            stateful.Options(
                reduction=reduction or "cpc",
                exact=exact,
                uninitialised=uninitialised,
                keep_going=keep_going,
                timeout=timeout,
                max_memory=max_memory,
                max_states=max_states,
            ),
            watch,
        )
        coverage, failure, kind, reason = visited.states, visited.failure, visited.kind, visited.reason
        bounded = False
    else:
        explored = stateless.explore(
            lowered,
            stateless.Options(
                algorithm=algorithm or "pop",
                seed=seed,
                commute=commute,
                races=races or "warn",
                uninitialised=uninitialised,
                allow_livelock=allow_livelock,
                keep_going=keep_going,
                timeout=timeout,
                max_executions=max_executions,
                max_steps=max_steps or stateless.MAX_STEPS,
            ),
            watch,
        )
        coverage, failure, kind = replace(explored.executions, unroll=unroll), explored.failure, explored.kind
        reason, bounded, racing = explored.reason, coverage.bounded > 0, explored.races

    def replayed(schedule: Schedule) -> Replay:
        from mazurka.replaying import replay_schedule

        try:
            return replay_schedule(
                program,
                lowered,
                schedule,
                uninitialised=uninitialised,
                allow_livelock=allow_livelock,
                max_steps=max_steps or stateless.MAX_STEPS,
            )
        except InputError as error:
            raise AssertionError(f"what the search found cannot be replayed: {error}") from error

    schedule = replace(failure, transforms=transforms) if failure is not None else None
    bug = obstacle = trace = None
    races_told: list[Race] = []
    try:
        if schedule is not None:
            shown = replayed(schedule)
            bug, obstacle = _judged(shown)
            trace = shown.trace
            if bug is None and obstacle is None:
                raise AssertionError("the bug that the search found does not show when its schedule is replayed")
        for race in racing:
            told = replayed(replace(race, transforms=transforms)).race
            assert told is not None
            races_told.append(told)
    except KeyboardInterrupt:
        reason = reason or "interrupted"
        if schedule is not None and trace is None:
            assert kind is not None
            bug, obstacle = _untold(lowered, schedule, kind, uninitialised)
    return Result(
        verdict=Verdict.BUG if bug else Verdict.INCOMPLETE if obstacle or reason or bounded else Verdict.OK,
        bug=bug,
        coverage=coverage,
        seconds=time.monotonic() - start,
        trace=trace,
        schedule=schedule,
        reason=obstacle or reason,
        races=_distinct(races_told),
    )


def replay(
    source: Program | Files,
    schedule: Schedule,
    *,
    compiler_arguments: Sequence[str] = (),
    program_arguments: Sequence[str] = (),
    cc: str | None = None,
    allow_livelock: bool = False,
    uninitialised: bool = True,
    max_steps: int | None = None,
) -> Result:
    """Execute a program once more, exactly as `schedule` says, after the same transformations. The result is about this
    one execution: a bug if it shows one, incomplete if it meets a limit of Mazurka or the bound on loops, or if the
    schedule ends before the program does. Raises `InputError` for a schedule that does not fit the program."""
    from mazurka.replaying import replay_schedule

    start = time.monotonic()
    transforms = schedule.transforms if not isinstance(source, Program) else Transformations()
    program, lowered = _lower(source, compiler_arguments, program_arguments, cc, transforms, schedule.inputs)
    replayed = replay_schedule(
        program,
        lowered,
        schedule,
        uninitialised=uninitialised,
        allow_livelock=allow_livelock,
        max_steps=max_steps or stateless.MAX_STEPS,
    )
    bug, reason = _judged(replayed)
    if not replayed.ended and bug is None:
        reason = "the schedule ends before the program does"
    return Result(
        verdict=Verdict.BUG if bug else Verdict.INCOMPLETE if reason or replayed.bounded else Verdict.OK,
        bug=bug,
        coverage=Executions(
            algorithm="replay",
            complete=int(replayed.ended and not replayed.blocked),
            blocked=int(replayed.blocked),
            bounded=int(replayed.bounded),
            assumed=int(replayed.assumed),
            unroll=schedule.transforms.unroll,
        ),
        seconds=time.monotonic() - start,
        trace=replayed.trace,
        schedule=schedule,
        reason=reason,
    )


def _judged(replayed: Replay) -> tuple[Bug | None, str | None]:
    """The bug of an execution, or else the limit that it meets: of a program that needs more room than there is, nobody
    can say that it is wrong."""
    from mazurka.faults import LIMITS

    if replayed.bug is not None and replayed.fault in LIMITS:
        return None, replayed.bug.message
    return replayed.bug, None


def _untold(lowered: Lowered, schedule: Schedule, kind: str, uninitialised: bool) -> tuple[Bug | None, str | None]:
    """The same of an execution that nobody waits to see replayed."""
    from mazurka.faults import LIMITS
    from mazurka.replaying import failure_of

    count = len(schedule.steps)
    where = f"{count:,} step{'' if count == 1 else 's'} from the start; interrupted before it could be told in words"
    if kind != "failure":
        return Bug(kind, f"a failure ({kind}) was found, {where}", None, None, None), None
    failed = failure_of(lowered, schedule, uninitialised=uninitialised)
    assert failed is not None
    if failed.fault in LIMITS:
        return None, f"a limit of Mazurka ({failed.fault.replace('_', ' ')}) was met, {where}"
    return Bug(failed.kind, f"a failure ({failed.kind}) was found, {where}", None, None, None), None


def _distinct(races: Sequence[Race]) -> tuple[Race, ...]:
    """The search tells instructions apart. For a person, one race in the same lines on the same variable is enough."""
    distinct: dict[tuple[object, ...], Race] = {}
    for race in races:
        distinct.setdefault((race.object, frozenset((race.first.place, race.second.place))), race)
    return tuple(distinct.values())


def _check_names(**names: tuple[str | None, Sequence[str]]) -> None:
    for option, (name, known) in names.items():
        if name is not None and name not in known:
            raise InputError(f"{option} can be {', '.join(known)}, not {name!r}")


def _check_limits(**limits: float | None) -> None:
    for name, limit in limits.items():
        if limit is not None and limit <= 0:
            raise InputError(f"{name} must be above 0, not {limit}")


def _compile(
    files: Files,
    compiler_arguments: Sequence[str],
    program_arguments: Sequence[str],
    cc: str | None,
    inputs: bool = False,
) -> Program:
    from mazurka.frontends.c import load_c_program

    return load_c_program(
        file_names(files),
        compiler_arguments=compiler_arguments,
        program_arguments=program_arguments,
        cc=cc,
        inputs=inputs,
    )


def file_names(files: Files) -> list[str]:
    """A file or several, as a list."""
    paths = [files] if isinstance(files, str | os.PathLike) else files
    return [os.fspath(path) for path in paths]


def _lower(
    source: Program | Files,
    compiler_arguments: Sequence[str],
    program_arguments: Sequence[str],
    cc: str | None,
    transforms: Transformations,
    inputs: bool = False,
) -> tuple[Program, Lowered]:
    from mazurka.transforms import prepare
    from mazurka.transforms.lowering import lower

    if not isinstance(source, Program):
        source = prepare(_compile(source, compiler_arguments, program_arguments, cc, inputs), **asdict(transforms))
    elif transforms != Transformations():
        raise InputError(
            "purity, awaits and unroll are for files: a Program is explored as it is (mazurka.load takes these options)"
        )
    return source, lower(source)
