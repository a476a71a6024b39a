"""`mazurka check`."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mazurka import checking
from mazurka.cli.again import replay_commands
from mazurka.cli.files import keep, replace_file, save_schedule, try_to_save
from mazurka.cli.inputs import program, test_program
from mazurka.cli.output import progress_line, report, writing
from mazurka.errors import InputError
from mazurka.options import SEARCH
from mazurka.result import Result

if TYPE_CHECKING:
    from mazurka.checking import Files
    from mazurka.frontends.c import Compiled
    from mazurka.testcases import TestProgram
    from mazurka.testcases.outcome import Outcome, Outcomes


def run(options: Namespace) -> int:
    if options.race_schedules and not options.json:
        raise InputError("--race-schedules is for --json; --races error shows how the first race comes about")
    keep([os.fspath(source) for source in options.sources], options.junit)
    try_to_save(options.save_schedule)
    try_to_save(options.junit, "the JUnit file")
    _mention_assertions(options)
    return _check_tests(options) if options.tests else _check(options)


def _mention_assertions(options: Namespace) -> None:
    """Who checks a build for releases may not think of it."""
    if options.build is None:
        return
    from mazurka.builds import has_assertions

    if not has_assertions(options.sources, options.compiler_arguments):
        told = "assertions are not checked, since the build defines NDEBUG; with -UNDEBUG, they are"
        print(f"mazurka: {told}", file=sys.stderr)


def _check(options: Namespace) -> int:
    source, compiling = program(options)
    result = _result(source, compiling, options)
    if options.save_schedule is not None and result.schedule is not None:
        save_schedule(result, options.save_schedule)
    again = replay_commands(options) if result.schedule else []
    if options.junit is not None:
        from mazurka.testcases.outcome import Outcome, Outcomes

        name = options.test or options.target or os.fspath(options.sources[0])
        _save_junit(Outcomes("mazurka", [Outcome(name, result)]), options.junit)
    return report(result, options, again, race_schedules=options.race_schedules)


def _result(source: Files | Compiled, compiling: dict[str, Any], options: Namespace) -> Result:
    asked = {option.keyword: getattr(options, option.keyword) for option in SEARCH}
    with progress_line(options) as progress:
        return checking.check(source, **compiling, **asked, progress=progress)


def _check_tests(options: Namespace) -> int:
    """Each test case by itself; what is known is reported, also after an interrupt."""
    from mazurka.reports import tests
    from mazurka.testcases.outcome import Outcomes

    if options.save_schedule is not None:
        raise InputError("--save-schedule is for one bug; --test NAME checks one test case")
    cases = test_program(options)
    checked = Outcomes(cases.framework.name, left=list(cases.names))
    with writing():
        try:
            while checked.left and not checked.interrupted:
                checked.add(_outcome(cases, checked.left[0], options))
                if not options.json:
                    tests.write_line(checked.outcomes[-1], cases.names, sys.stdout)
        except KeyboardInterrupt:
            pass
        if options.junit is not None:
            _save_junit(checked, options.junit)
        if options.json:
            tests.write_json(checked, sys.stdout, race_schedules=options.race_schedules, config=options.config_used)
        else:
            tests.write(checked, sys.stdout, _again(options), config=options.config_used, color=options.color)
    return checked.exit_code


def _outcome(cases: TestProgram, name: str, options: Namespace) -> Outcome:
    from mazurka.testcases.outcome import Outcome

    try:
        case = cases.case(name)
        result = _result(case.source, {"program_arguments": case.arguments}, options)
        printed = result.trace.output if result.bug is not None and result.trace is not None else ""
        return Outcome(name, result, cases.framework.complaint(printed))
    except InputError as error:
        return Outcome(name, str(error))


def _again(options: Namespace) -> Callable[[str], list[str]]:
    """The commands that show the bug of a test case again."""
    return lambda name: replay_commands(Namespace(**{**vars(options), "test": name, "tests": False}))


def _save_junit(checked: Outcomes, file: str) -> None:
    from mazurka.reports import junit

    replace_file(file, junit.to_xml(checked))
