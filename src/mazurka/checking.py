"""From source files to a verdict."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from mazurka.engines.stateless import ALGORITHMS, RACES, Options, Progress, explore
from mazurka.errors import InputError
from mazurka.program.program import Program
from mazurka.result import Bug, Race, Result, Verdict
from mazurka.schedule import Schedule, Transformations

if TYPE_CHECKING:
    from mazurka.loops import LoopFate
    from mazurka.replaying import Replay
    from mazurka.transforms.lowering import Lowered

Files = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


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
    algorithm: str = "pop",
    seed: int | None = None,
    commute: bool = True,
    purity: bool = True,
    awaits: bool = True,
    unroll: int | None = None,
    allow_livelock: bool = False,
    races: str = "warn",
    uninitialised: bool = True,
    keep_going: bool = False,
    timeout: float | None = None,
    max_executions: int | None = None,
    max_steps: int = 100_000,
    progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Execute a program under every interleaving of its threads. `source` is a file, several files, or a `Program`.

    `compiler_arguments` are what a C compiler takes (`["-DN=3", "-Iinclude"]`), `program_arguments` are the program's
    `argv[1]` and on. `purity`, `awaits` and `unroll` say what is done about the loops of files, as for `load`; a
    `Program` is explored as it is. `engines.stateless.Options` says what the others do. `progress` is called about ten
    times a second, from the thread that called `check`. Ctrl-C ends the search with the verdict "incomplete". Raises
    `InputError` for whatever cannot be checked.
    """
    if algorithm not in ALGORITHMS:
        raise InputError(f"no algorithm {algorithm!r}; there are: {', '.join(ALGORITHMS)}")
    if races not in RACES:
        raise InputError(f"races can be {', '.join(RACES)}, not {races!r}")
    if seed is not None and not 0 <= seed < 1 << 64:
        raise InputError(f"seed must be a number of 64 bits, not {seed}")
    _check_limits(timeout=timeout, max_executions=max_executions, max_steps=max_steps, unroll=unroll)
    options = Options(
        algorithm=algorithm,
        seed=seed,
        commute=commute,
        races=races,
        uninitialised=uninitialised,
        allow_livelock=allow_livelock,
        keep_going=keep_going,
        timeout=timeout,
        max_executions=max_executions,
        max_steps=max_steps,
    )
    start = time.monotonic()
    transforms = Transformations(purity, awaits, unroll)
    program, lowered = _lower(source, compiler_arguments, program_arguments, cc, transforms)
    outcome = explore(lowered, options, progress)

    def replayed(schedule: Schedule) -> Replay:
        from mazurka.replaying import replay_schedule

        try:
            return replay_schedule(
                program,
                lowered,
                schedule,
                uninitialised=uninitialised,
                allow_livelock=allow_livelock,
                max_steps=max_steps,
            )
        except InputError as error:
            raise AssertionError(f"what the search found cannot be replayed: {error}") from error

    bug = obstacle = trace = schedule = None
    if outcome.failure is not None:
        schedule = replace(outcome.failure, transforms=transforms)
        shown = replayed(schedule)
        bug, obstacle = _judged(shown)
        trace = shown.trace
        if bug is None and obstacle is None:
            raise AssertionError("the bug that the search found does not show when its schedule is replayed")
    reason = obstacle or outcome.reason
    found = _distinct(replayed(replace(race, transforms=transforms)).race for race in outcome.races)
    return Result(
        verdict=Verdict.BUG if bug else Verdict.INCOMPLETE if reason or outcome.bounded else Verdict.OK,
        bug=bug,
        complete=outcome.complete,
        blocked=outcome.blocked,
        redundant=outcome.redundant,
        algorithm=outcome.algorithm,
        seconds=time.monotonic() - start,
        trace=trace,
        schedule=schedule,
        reason=reason,
        estimate=outcome.estimate,
        races=found,
        bounded=outcome.bounded,
        assumed=outcome.assumed,
        unroll=unroll,
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
    max_steps: int = 100_000,
) -> Result:
    """Execute a program once more, exactly as `schedule` says, after the same transformations. The result is about this
    one execution: a bug if it shows one, incomplete if it meets a limit of Mazurka or the bound on loops, or if the
    schedule ends before the program does. Raises `InputError` for a schedule that does not fit the program."""
    from mazurka.replaying import replay_schedule

    start = time.monotonic()
    transforms = schedule.transforms if not isinstance(source, Program) else Transformations()
    program, lowered = _lower(source, compiler_arguments, program_arguments, cc, transforms)
    replayed = replay_schedule(
        program, lowered, schedule, uninitialised=uninitialised, allow_livelock=allow_livelock, max_steps=max_steps
    )
    bug, reason = _judged(replayed)
    if not replayed.ended and bug is None:
        reason = "the schedule ends before the program does"
    return Result(
        verdict=Verdict.BUG if bug else Verdict.INCOMPLETE if reason or replayed.bounded else Verdict.OK,
        bug=bug,
        complete=int(replayed.ended and not replayed.blocked),
        blocked=int(replayed.blocked),
        redundant=0,
        algorithm="replay",
        seconds=time.monotonic() - start,
        trace=replayed.trace,
        schedule=schedule,
        reason=reason,
        bounded=int(replayed.bounded),
        assumed=int(replayed.assumed),
        unroll=schedule.transforms.unroll,
    )


def _judged(replayed: Replay) -> tuple[Bug | None, str | None]:
    """The bug of an execution, or else the limit that it meets: of a program that needs more room than there is, nobody
    can say that it is wrong."""
    from mazurka.faults import LIMITS

    if replayed.bug is not None and replayed.fault in LIMITS:
        return None, replayed.bug.message
    return replayed.bug, None


def _distinct(races: Iterable[Race | None]) -> tuple[Race, ...]:
    """The search tells instructions apart. For a person, one race in the same lines on the same variable is enough."""
    distinct: dict[tuple[object, ...], Race] = {}
    for race in races:
        assert race is not None
        distinct.setdefault((race.object, frozenset((race.first.place, race.second.place))), race)
    return tuple(distinct.values())


def _check_limits(**limits: float | None) -> None:
    for name, limit in limits.items():
        if limit is not None and limit <= 0:
            raise InputError(f"{name} must be above 0, not {limit}")


def _compile(
    files: Files, compiler_arguments: Sequence[str], program_arguments: Sequence[str], cc: str | None
) -> Program:
    from mazurka.frontends.c import load_c_program

    paths = [files] if isinstance(files, str | os.PathLike) else files
    return load_c_program(
        [os.fspath(path) for path in paths],
        compiler_arguments=compiler_arguments,
        program_arguments=program_arguments,
        cc=cc,
    )


def _lower(
    source: Program | Files,
    compiler_arguments: Sequence[str],
    program_arguments: Sequence[str],
    cc: str | None,
    transforms: Transformations,
) -> tuple[Program, Lowered]:
    from mazurka.transforms import prepare
    from mazurka.transforms.lowering import lower

    if not isinstance(source, Program):
        source = prepare(_compile(source, compiler_arguments, program_arguments, cc), **asdict(transforms))
    elif transforms != Transformations():
        raise InputError(
            "purity, awaits and unroll are for files: a Program is explored as it is (mazurka.load takes these options)"
        )
    return source, lower(source)
