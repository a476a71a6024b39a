"""The command line: `mazurka check`, `replay`, `schedule`, `build`, `loops` and `print`."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mazurka.errors import InputError, MazurkaError
from mazurka.escaping import visible

if TYPE_CHECKING:
    from mazurka.engines.abstract.search import SearchProgress
    from mazurka.engines.stateful import StateProgress
    from mazurka.engines.stateless import Progress
    from mazurka.result import Result
    from mazurka.schedules.sections import ProgramSchedule
    from mazurka.scheduling import Iteration

EXIT_INPUT = 2
EXIT_INTERNAL = 4

# What else is on the command lines of C compilers. It makes no difference to the program that is checked.
_COMPILER_HABITS = re.compile(r"-(pthread|l.+|[WOg].*)")

_EXIT_CODES = """\
exit codes:
  0  verified: everything was covered and no bug found; of schedule and build: what was asked for is there
  1  a bug was found; of schedule: one that the schedule does not avoid, or with --until complete any
  2  the input or the usage is at fault
  3  incomplete: a limit, an interrupt or the bound on loops ended the search, or it was one that can miss bugs
  4  an error in Mazurka itself
"""


_MORE_USAGE = {"replay": "SCHEDULE.json ", "build": "--schedule SCHEDULE.json -o PROGRAM "}


class _CompilerOption(argparse.Action):
    """Options for the C compiler, kept in their order: `-DX=1`, `-D X`, `-std=c11`, `-include FILE`."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, option: str | None = None
    ) -> None:
        assert option is not None
        attached = option + ("=" if option == "-std" else "") + value
        words = [option, value] if option in ("-include", "-isystem") else [attached]
        namespace.compiler_arguments = [*namespace.compiler_arguments, *words]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mazurka",
        description="Checks concurrent C and C++ programs under every interleaving of their threads.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    check = _command(commands, "check", "execute a program under every interleaving and report the first bug")
    check.add_argument("files", nargs="+", metavar="FILE", help="C or C++ source files, or LLVM .ll and .bc files")
    search = check.add_argument_group("search")
    search.add_argument(
        "--engine",
        choices=("stateless", "stateful"),
        default="stateless",
        help="stateless: cover all executions; stateful: cover all states, also of programs that never end (default: "
        "stateless)",
    )
    search.add_argument("--keep-going", action="store_true", help="go on counting after the first bug")
    search.add_argument("--timeout", type=_seconds, metavar="SECONDS", help="stop the search after this time")
    _add_uninitialised_option(search)
    executions = check.add_argument_group("search of the engine stateless")
    executions.add_argument(
        "--algorithm",
        choices=("pop", "optimal", "exhaustive", "random"),
        help="pop: one execution of each equivalence class; optimal: the same, in another way that takes more memory; "
        "exhaustive: every interleaving; random: a random walk, for programs that are too large, up to a limit, which "
        "is 10000 executions unless --timeout or --max-executions is given (default: pop)",
    )
    executions.add_argument(
        "--seed",
        type=_seed,
        metavar="N",
        help="of the random walk (default: 1); the other algorithms begin each execution with a thread that depends on "
        "N, which changes which bug they meet first, but not the counts",
    )
    executions.add_argument(
        "--races",
        choices=("warn", "error", "ignore"),
        help="data races are reported along with the verdict, or are bugs, or are not looked for (default: warn)",
    )
    executions.add_argument(
        "--no-commute",
        dest="commute",
        action="store_false",
        help="tell apart the orders of updates whose old value nobody uses",
    )
    _add_loop_options(executions)
    executions.add_argument("--max-executions", type=_count, metavar="N", help="stop the search after N executions")
    _add_execution_options(executions)
    states = check.add_argument_group("search of the engine stateful")
    states.add_argument(
        "--reduction",
        choices=("cpc", "cycle-detection", "unsound", "none"),
        help="cpc: other threads run only between transactions, made safe by commit point completion; cycle-detection: "
        "made safe in an older way; none: they run everywhere; unsound: not made safe, can miss bugs, for comparison "
        "only (default: cpc)",
    )
    states.add_argument("--exact", action="store_true", help="compare whole states, not fingerprints of 125 bits")
    states.add_argument(
        "--max-memory",
        type=_size,
        metavar="SIZE",
        help="stop the search when it takes so much memory: 500M, 4GiB (default: half of the memory that there is)",
    )
    states.add_argument("--max-states", type=_count, metavar="N", help="stop the search after N states")
    output = check.add_argument_group("output")
    output.add_argument("--save-schedule", metavar="FILE", help="write the schedule of a bug to FILE, for replay")
    output.add_argument("--no-progress", dest="progress", action="store_false", help="no progress line on a terminal")
    _add_output_options(output)

    replay = _command(commands, "replay", "execute a program once more, exactly as a schedule says")
    replay.add_argument("files", nargs="+", metavar="FILE", help="the files as for check; the last one is the schedule")
    execution = replay.add_argument_group("execution")
    _add_execution_options(execution)
    _add_uninitialised_option(execution)
    _add_output_options(replay.add_argument_group("output"))

    schedule = _command(commands, "schedule", "find schedules under which a program is safe, whatever its inputs")
    schedule.add_argument("files", nargs="+", metavar="FILE", help="the files as for check")
    search = schedule.add_argument_group("search")
    search.add_argument(
        "--until",
        type=_until,
        metavar="first|N|complete",
        help="end with the first schedule, or after N iterations that found one, or when it is known of all schedules "
        "whether they are safe (default: first)",
    )
    search.add_argument(
        "--integers",
        choices=("bits", "mathematical"),
        help="bits: those of the machine; mathematical: without limits, which can be faster, but proves nothing about "
        "programs in which integers overflow (default: bits)",
    )
    search.add_argument("--timeout", type=_seconds, metavar="SECONDS", help="stop the search after this time")
    search.add_argument(
        "--check", metavar="SCHEDULE.json", help="do not search, but prove that this schedule is safe for the program"
    )
    search.add_argument(
        "--no-build-check",
        dest="buildable",
        action="store_false",
        help="do not look whether programs can be built that keep to the schedules",
    )
    output = schedule.add_argument_group("output")
    output.add_argument(
        "-o",
        dest="output",
        metavar="SCHEDULE.json",
        help="where to write the latest schedule (default: the name of the first FILE, with .schedule.json)",
    )
    output.add_argument("--picture", metavar="FILE", help="draw the latest schedule, as .svg or as .dot for Graphviz")
    output.add_argument("--save-bug", metavar="FILE", help="write how the first bug comes about to FILE, for replay")
    output.add_argument("--no-progress", dest="progress", action="store_false", help="no progress line on a terminal")
    _add_output_options(output)

    build = _command(commands, "build", "compile a program so that its threads keep to a schedule")
    build.add_argument("files", nargs="+", metavar="FILE", help="the files as for schedule, which made the schedule")
    building = build.add_argument_group("build")
    building.add_argument("--schedule", required=True, metavar="SCHEDULE.json", help="the schedule")
    building.add_argument("-o", dest="output", required=True, metavar="PROGRAM", help="where to write the program")
    building.add_argument(
        "--optimise",
        type=int,
        choices=(0, 1, 2),
        default=2,
        help="0: all events in one order; 1: only dependent events are ordered, locks are left out; 2: also, longer "
        "sections, fewer accesses (default: 2)",
    )
    building.add_argument(
        "--no-check",
        dest="check",
        action="store_false",
        help="do not prove again, before the program is built, that the schedule is safe for it",
    )

    loops = _command(commands, "loops", "list the loops of a program: which only wait for other threads, and for what")
    loops.add_argument("files", nargs="+", metavar="FILE", help="the files as for check")
    loops.add_argument("--json", action="store_true", help="print a JSON list")

    shown = _command(commands, "print", "print the program that check explores, in Mazurka's own representation")
    shown.add_argument("files", nargs="+", metavar="FILE", help="the files as for check")
    _add_loop_options(shown)
    return parser


def _command(commands: Any, name: str, description: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=description,
        description=description[0].upper() + description[1:] + ".",
        usage=f"mazurka {name} [options] FILE… {_MORE_USAGE.get(name, '')}[-- ARGUMENT…]",
        epilog="What follows -- are the arguments of the program itself.",
        allow_abbrev=False,
    )
    compiler = command.add_argument_group(
        "compiler", "as a C compiler takes them; -pthread, -l…, -W…, -O… and -g… are accepted, and change nothing"
    )
    command.set_defaults(compiler_arguments=[], parser=command)
    for option, value, meaning in (
        ("-D", "NAME[=VALUE]", "define a macro"),
        ("-U", "NAME", "undefine a macro"),
        ("-I", "DIR", "search DIR for headers"),
        ("-isystem", "DIR", "search DIR for system headers"),
        ("-include", "FILE", "include FILE first"),
        ("-std", "STANDARD", "the language standard: -std=c11"),
    ):
        compiler.add_argument(option, action=_CompilerOption, metavar=value, help=meaning, dest="compiler_arguments")
    compiler.add_argument("--cc", metavar="CLANG", help="use this clang instead of the one that is installed along")
    return command


def _add_loop_options(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--no-purity",
        dest="purity",
        action="store_false",
        help="let loops go round also where that changes nothing",
    )
    group.add_argument(
        "--no-await",
        dest="awaits",
        action="store_false",
        help="let a thread stop, rather than wait, where what it reads is not what is assumed or what its loop needs",
    )
    group.add_argument(
        "--unroll",
        type=_count,
        metavar="N",
        help="stop each loop after N iterations; if one does go on, the answer is at best: no bug within N iterations",
    )


def _add_execution_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--max-steps",
        type=_count,
        metavar="N",
        help="report an execution of N steps as one that may not end (default: 100000)",
    )
    group.add_argument(
        "--allow-livelock",
        action="store_true",
        help="do not report loops that wait for ever for another thread",
    )


def _add_uninitialised_option(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--no-uninitialised",
        dest="uninitialised",
        action="store_false",
        help="do not report branches and addresses that depend on memory that was never written",
    )


def _add_output_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--json", action="store_true", help="print the result as one JSON object")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="(default: auto)")


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a time above 0")
    return value


def _count(text: str) -> int:
    value = int(text)
    if not 0 < value < 1 << 63:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return value


def _until(text: str) -> int | str:
    return text if text == "complete" else 1 if text == "first" else _count(text)


def _size(text: str) -> int:
    from mazurka.sizes import parse_size

    try:
        value = parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not 0 < value < 1 << 63:
        raise argparse.ArgumentTypeError(f"{text} is not a size above 0")
    return value


def _seed(text: str) -> int:
    value = int(text)
    if not 0 <= value < 1 << 64:
        raise argparse.ArgumentTypeError(f"{text} is not a number of 64 bits")
    return value


_seconds.__name__ = "time"  # what argparse calls a value that does not convert
_count.__name__ = _seed.__name__ = "number"
_until.__name__ = "first, number or complete"


# ------------------------------------------------------------------------------------------------ commands


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without arrows still shows the rest
    try:
        return _run(list(sys.argv[1:] if arguments is None else arguments))
    except InputError as error:
        _complain(error)
        return EXIT_INPUT
    except KeyboardInterrupt:
        print("mazurka: interrupted", file=sys.stderr)
        return 3
    except Exception as error:
        if os.environ.get("MAZURKA_DEBUG"):
            traceback.print_exc()
        what = str(error) if isinstance(error, MazurkaError) else f"{type(error).__name__}: {error}"
        print(
            f"mazurka: internal error: {what}\n"
            "This is a defect of Mazurka, not of your program: please report it, with the program and the output of\n"
            "the same command with MAZURKA_DEBUG=1 in the environment.",
            file=sys.stderr,
        )
        return EXIT_INTERNAL


def _run(words: list[str]) -> int:
    program_arguments: list[str] = []
    if "--" in words:
        cut = words.index("--")
        words, program_arguments = words[:cut], words[cut + 1 :]
    parser = _parser()
    options = _parse(parser, words)
    if options.version:
        import mazurka

        with _writing():
            print(f"mazurka {mazurka.__version__}")
        return 0
    if options.command is None:
        parser.print_help(sys.stderr)
        return EXIT_INPUT
    compiling = {
        "compiler_arguments": options.compiler_arguments,
        "program_arguments": program_arguments,
        "cc": options.cc,
    }
    if options.command == "print":
        return _print(options, compiling)
    if options.command == "loops":
        return _loops(options, compiling)
    if options.command == "replay":
        return _replay(options, compiling)
    if options.command == "schedule":
        return _check_schedule(options, compiling) if options.check else _schedule(options, compiling)
    if options.command == "build":
        return _build(options, compiling)
    return _check(options, compiling)


def _parse(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """Files can be among the options, as with a C compiler; argparse leaves those after the first ones to us."""
    options, rest = parser.parse_known_args(words)
    unknown = []
    for word in rest:
        if not word.startswith("-"):
            options.files.append(word)
        elif _COMPILER_HABITS.fullmatch(word) and options.command is not None:
            options.compiler_arguments = [*options.compiler_arguments, word]
        else:
            unknown.append(word)
    if unknown:
        (options.parser if options.command else parser).error(f"unrecognized arguments: {' '.join(unknown)}")
    return options


def _check(options: argparse.Namespace, compiling: dict[str, Any]) -> int:
    from mazurka.checking import check

    if options.save_schedule is not None:
        _try_to_save(options.save_schedule)
    progress = _ProgressLine() if options.progress and sys.stderr.isatty() else None
    try:
        result = check(
            options.files,
            **compiling,
            engine=options.engine,
            uninitialised=options.uninitialised,
            keep_going=options.keep_going,
            timeout=options.timeout,
            progress=progress,
            algorithm=options.algorithm,
            seed=options.seed,
            commute=options.commute,
            purity=options.purity,
            awaits=options.awaits,
            unroll=options.unroll,
            allow_livelock=options.allow_livelock,
            races=options.races,
            max_executions=options.max_executions,
            max_steps=options.max_steps,
            reduction=options.reduction,
            exact=options.exact,
            max_memory=options.max_memory,
            max_states=options.max_states,
        )
    finally:
        if progress is not None:
            progress.clear()
    if options.save_schedule is not None and result.schedule is not None:
        _save_schedule(result, options.save_schedule)
    _report(result, options, _replay_commands(options, compiling) if result.schedule else [])
    return result.verdict.exit_code


def _replay(options: argparse.Namespace, compiling: dict[str, Any]) -> int:
    from mazurka.checking import replay
    from mazurka.schedule import Schedule

    *files, schedule = options.files
    if not files:
        raise InputError("replay needs a schedule after the source files: mazurka replay FILE… SCHEDULE.json")
    result = replay(
        files,
        Schedule.load(Path(schedule)),
        **compiling,
        allow_livelock=options.allow_livelock,
        uninitialised=options.uninitialised,
        max_steps=options.max_steps,
    )
    _report(result, options, [])
    return result.verdict.exit_code


def _schedule(options: argparse.Namespace, compiling: dict[str, Any]) -> int:
    from mazurka.reports import schedules
    from mazurka.scheduling import SafeIteration, find_schedules

    if options.output is None:
        options.output = os.path.splitext(os.path.basename(options.files[0]))[0] + ".schedule.json"
    _keep(options.files, options.output, options.picture, options.save_bug)
    for file, what in (
        (options.output, "the schedule"),
        (options.picture, "the picture"),
        (options.save_bug, "the bug"),
    ):
        if file is not None:
            _try_to_save(file, what)
    draw = _drawing(options.picture)
    progress = _ProgressLine() if options.progress and sys.stderr.isatty() else None
    bugs = 0
    has_buildable = False

    def found(iteration: Iteration) -> None:
        nonlocal bugs, has_buildable
        if progress is not None:
            progress.clear()
        if isinstance(iteration, SafeIteration):
            if iteration.obstacle is None or not has_buildable:
                _replace_file(options.output, _as_text(iteration.schedule))
                if draw is not None:
                    _replace_file(options.picture, draw(iteration.schedule))
            has_buildable |= iteration.obstacle is None
        elif options.save_bug is not None and bugs == 0:
            _save_schedule(iteration.result, options.save_bug)
        bugs += not isinstance(iteration, SafeIteration)
        if not options.json:
            with _writing():
                schedules.write_iteration(iteration, sys.stdout, color=options.color)

    try:
        outcome = find_schedules(
            options.files,
            **compiling,
            until=options.until or 1,
            integers=options.integers or "bits",
            timeout=options.timeout,
            buildable=options.buildable,
            found=found,
            progress=progress.show_iteration if progress is not None else None,
        )
    finally:
        if progress is not None:
            progress.clear()
    with _writing():
        if options.json:
            schedules.write_json(outcome, sys.stdout)
        else:
            again = _see_bug_commands(options, compiling) if bugs else []
            build_with = _build_commands(options, compiling) if has_buildable else []
            schedules.write_outcome(outcome, sys.stdout, replay_with=again, build_with=build_with, color=options.color)
    return outcome.exit_code


def _check_schedule(options: argparse.Namespace, compiling: dict[str, Any]) -> int:
    from mazurka.engines.abstract import load_model
    from mazurka.schedules.checker import check
    from mazurka.schedules.format import load

    for option in ("until", "integers", "timeout", "output", "save_bug", "json"):
        if getattr(options, option):
            name = "-o" if option == "output" else "--" + option.replace("_", "-")
            raise InputError(f"{name} is for the search for a schedule; with --check there is none")
    draw = _drawing(options.picture)
    model = load_model(options.files, **_with_arguments_of(options.check, compiling))
    schedule = load(Path(options.check), model)
    problems = check(model, schedule)
    if draw is not None:
        _replace_file(options.picture, draw(schedule))
    with _writing():
        for problem in problems:
            print(visible(f"does not hold: {problem}"))
        if not problems:
            print("proved: all executions under this schedule are safe, free of deadlocks and fair")
    return 1 if problems else 0


def _build(options: argparse.Namespace, compiling: dict[str, Any]) -> int:
    from mazurka.enforcement import build
    from mazurka.engines.abstract import load_model
    from mazurka.schedules.checker import check
    from mazurka.schedules.format import load

    _keep([*options.files, options.schedule], options.output)
    _try_to_save(options.output, "the program")
    model = load_model(options.files, **_with_arguments_of(options.schedule, compiling))
    schedule = load(Path(options.schedule), model)
    problems = check(model, schedule) if options.check else []
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise InputError(f"{options.schedule}: not a safe schedule of this program: {problems[0]}{more}")
    level = build(
        options.files,
        schedule,
        Path(options.output),
        optimise=options.optimise,
        compiler_arguments=compiling["compiler_arguments"],
        cc=compiling["cc"],
    )
    if level < options.optimise:
        print(f"mazurka: built at level {level}, since only that can be shown to keep to the schedule", file=sys.stderr)
    return 0


def _with_arguments_of(schedule: str, compiling: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the program are those that its schedule is for. Who says others is mistaken."""
    from mazurka.schedules.format import arguments_in

    given, stored = compiling["program_arguments"], arguments_in(Path(schedule))
    if stored is None:
        return compiling
    if given and given != stored:
        what = f"the arguments {shlex.join(stored)}" if stored else "no arguments"
        raise InputError(f"{schedule}: a schedule for {what}, not for {shlex.join(given)}; leave them out")
    return {**compiling, "program_arguments": stored}


def _print(options: argparse.Namespace, compiling: dict[str, Any]) -> int:
    from mazurka.checking import load
    from mazurka.program.printer import format_program

    program = load(options.files, **compiling, purity=options.purity, awaits=options.awaits, unroll=options.unroll)
    with _writing():
        print(format_program(program))
    return 0


def _loops(options: argparse.Namespace, compiling: dict[str, Any]) -> int:
    from mazurka.checking import explain_loops
    from mazurka.reports import loops

    reports = explain_loops(options.files, **compiling)
    with _writing():
        if options.json:
            loops.write_json(reports, sys.stdout)
        else:
            loops.write(reports, sys.stdout)
    return 0


def _report(result: Result, options: argparse.Namespace, replay_with: Sequence[str]) -> None:
    from mazurka.reports import json, text

    with _writing():
        if options.json:
            json.write(result, sys.stdout)
        else:
            text.write(result, sys.stdout, replay_with=replay_with, color=options.color)


@contextmanager
def _writing() -> Iterator[None]:
    """In `mazurka check … | head`, the reader of the pipe has seen enough at some point. The verdict stands. Not so
    where nobody can read it, as on a disk that is full."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        # Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise InputError(f"the output cannot be written: {error.strerror}") from None


def _keep(inputs: Sequence[str], *outputs: str | None) -> None:
    """Nobody means to overwrite a source file."""
    needed = {os.path.realpath(file) for file in inputs}
    for file in outputs:
        if file is not None and os.path.realpath(file) in needed:
            raise InputError(f"{file}: is needed, and would be overwritten; choose another name for what is written")


def _try_to_save(file: str, what: str = "the schedule") -> None:
    """Better to fail before a search that may take hours than after it. No file is left behind: there may be no bug."""
    new = not os.path.exists(file)
    if not new and not os.path.isfile(file) and not os.path.isdir(file):
        return  # whoever reads a pipe would take this for all there is
    try:
        with open(file, "a"):
            pass
        if new:
            os.unlink(os.path.realpath(file))
    except OSError as error:
        raise _cannot_save(file, error, what) from None


def _save_schedule(result: Result, file: str) -> None:
    import json

    assert result.schedule is not None
    try:
        with open(file, "w") as stream:
            json.dump(result.schedule.to_json(), stream)
            stream.write("\n")
    except OSError as error:
        raise _cannot_save(file, error) from None


def _replace_file(file: str, text: str) -> None:
    """Write a plain file as a whole, if possible: whoever reads it meanwhile sees the old content or the new one."""
    special = os.path.exists(file) and not os.path.isfile(file)  # such as a pipe
    place = os.path.realpath(file)
    whole = not special and os.access(os.path.dirname(place), os.W_OK)
    written = f"{place}.{os.getpid()}.tmp" if whole else file
    try:
        with open(written, "w") as stream:
            stream.write(text)
        if whole:
            os.replace(written, place)
    except OSError as error:
        raise _cannot_save(file, error) from None


def _cannot_save(file: str, error: OSError, what: str = "the schedule") -> InputError:
    return InputError(f"{file}: {what} cannot be saved: {error.strerror}")


def _as_text(schedule: ProgramSchedule) -> str:
    import json

    from mazurka.schedules.format import to_json

    return json.dumps(to_json(schedule)) + "\n"


def _drawing(file: str | None) -> Callable[[ProgramSchedule], str] | None:
    """How to draw a picture in the format that the name of its file asks for."""
    if file is None:
        return None
    from mazurka.schedules.picture import to_dot, to_svg

    formats: dict[str, Callable[[ProgramSchedule], str]] = {".svg": to_svg, ".dot": to_dot, ".gv": to_dot}
    draw = formats.get(os.path.splitext(file)[1])
    if draw is None:
        raise InputError(f"--picture {file}: the name of a picture ends in .svg or .dot")
    return draw


def _build_commands(options: argparse.Namespace, compiling: dict[str, Any]) -> list[str]:
    """Lines to copy that run the program under the schedule that was found."""
    program = os.path.splitext(os.path.basename(options.files[0]))[0]
    build = _with_inputs(options, compiling, ["build"], ["--schedule", options.output, "-o", program])
    return [build, shlex.join([f"./{program}", *compiling["program_arguments"]])]


def _see_bug_commands(options: argparse.Namespace, compiling: dict[str, Any]) -> list[str]:
    """Lines to copy that show the first bug's execution again."""
    file = options.save_bug or "bug.json"
    replay = _with_inputs(options, compiling, ["replay"], [file])
    if options.save_bug:
        return [replay]
    search = ["schedule"]
    search += [] if options.until is None else ["--until", str(options.until)]
    search += [] if options.integers is None else ["--integers", options.integers]
    return [_with_inputs(options, compiling, search, ["--save-bug", file]), replay]


def _with_inputs(
    options: argparse.Namespace,
    compiling: dict[str, Any],
    command: Sequence[str],
    rest: Sequence[str],
    switches: Sequence[str] = (),
) -> str:
    """A command line with the same files, options for the compiler and arguments of the program."""
    words = ["mazurka", *command, *compiling["compiler_arguments"]]
    words += ["--cc", compiling["cc"]] if compiling["cc"] else []
    arguments = ["--", *compiling["program_arguments"]] if compiling["program_arguments"] else []
    return shlex.join([*words, *switches, *options.files, *rest, *arguments])


def _replay_commands(options: argparse.Namespace, compiling: dict[str, Any]) -> list[str]:
    """Lines to copy that show the bug's execution again: where its schedule was not saved, that comes first."""
    judging = ["--allow-livelock"] if options.allow_livelock else []
    judging += [] if options.uninitialised else ["--no-uninitialised"]
    judging += [] if options.max_steps is None else ["--max-steps", str(options.max_steps)]
    schedule = options.save_schedule or "bug.json"
    replay = _with_inputs(options, compiling, ["replay"], [schedule], judging)
    if options.save_schedule:
        return [replay]
    search = [] if options.engine == "stateless" else ["--engine", options.engine]
    search += [] if options.algorithm in (None, "pop") else ["--algorithm", options.algorithm]
    search += [] if options.seed is None else ["--seed", str(options.seed)]
    search += [] if options.commute else ["--no-commute"]
    search += [] if options.purity else ["--no-purity"]
    search += [] if options.awaits else ["--no-await"]
    search += [] if options.unroll is None else ["--unroll", str(options.unroll)]
    search += ["--races", "error"] if options.races == "error" else []
    search += [] if options.reduction in (None, "cpc") else ["--reduction", options.reduction]
    search += ["--exact"] if options.exact else []
    search += [] if options.max_memory is None else ["--max-memory", str(options.max_memory)]
    if options.algorithm == "random":  # without its limit, it may end before the bug
        search += ["--timeout", f"{options.timeout:g}"] if options.timeout else []
        search += ["--max-executions", str(options.max_executions)] if options.max_executions else []
    saving = _with_inputs(options, compiling, ["check"], ["--save-schedule", schedule], [*judging, *search])
    return [saving, replay]


class _ProgressLine:
    """One line on a terminal that says how far the search is."""

    def __call__(self, progress: Progress | StateProgress) -> None:
        from mazurka.reports.text import progress_line

        self._show(progress_line(progress))

    def show_iteration(self, number: int, progress: SearchProgress, seconds: float) -> None:
        from mazurka.reports.schedules import progress_line

        self._show(progress_line(number, progress, seconds))

    def clear(self) -> None:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _show(self, line: str) -> None:
        # A line that the terminal breaks could not be cleared.
        line = line[: shutil.get_terminal_size().columns - 1]
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def _complain(error: InputError) -> None:
    """What a compiler printed is passed on as it is."""
    text = str(error).rstrip("\n")
    print(text if "\n" in text else f"mazurka: {visible(text)}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
