"""`mazurka schedule`: look for schedules, or with `--check` prove that one is safe."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Callable

from mazurka.cli.again import build_commands, see_bug_commands
from mazurka.cli.commands.build import load_scheduled
from mazurka.cli.files import keep, replace_file, save_schedule, try_to_save
from mazurka.cli.output import ProgressLine, progress_line, writing
from mazurka.constrained.checker import check
from mazurka.constrained.files import to_json
from mazurka.constrained.picture import to_dot, to_svg
from mazurka.constrained.plan import ProgramSchedule
from mazurka.constraining import Iteration, SafeIteration, find_schedules
from mazurka.errors import InputError
from mazurka.escaping import visible
from mazurka.options import COMMANDS
from mazurka.reports import schedules

_Drawing = Callable[[ProgramSchedule], str]
_PICTURES: dict[str, _Drawing] = {".svg": to_svg, ".dot": to_dot, ".gv": to_dot}


def run(options: Namespace) -> int:
    return _prove(options) if options.check else _search(options)


def _search(options: Namespace) -> int:
    if options.output is None:
        options.output = os.path.splitext(os.path.basename(options.files[0]))[0] + ".schedule.json"
    keep(options.files, options.output, options.picture, options.save_bug)
    try_to_save(options.output)
    try_to_save(options.picture, "the picture")
    try_to_save(options.save_bug, "the bug")
    draw = _drawing(options.picture)
    with progress_line(options) as progress:
        kept = _Kept(options, draw, progress)
        found = find_schedules(
            options.files,
            **options.compiling,
            until=options.until,
            integers=options.integers,
            timeout=options.timeout,
            buildable=options.buildable,
            found=kept.add,
            progress=progress.show_iteration if progress is not None else None,
        )
    with writing():
        if options.json:
            schedules.write_json(found, sys.stdout, config=options.config_used)
        else:
            again = see_bug_commands(options) if kept.bugs else []
            build_with = build_commands(options) if kept.has_buildable else []
            schedules.write_outcome(
                found,
                sys.stdout,
                replay_with=again,
                build_with=build_with,
                config=options.config_used,
                color=options.color,
            )
    return found.exit_code


class _Kept:
    """What is written as it is found: the latest schedule, or the latest that can be built, and the first bug."""

    def __init__(self, options: Namespace, draw: _Drawing | None, progress: ProgressLine | None) -> None:
        self.bugs = 0
        self.has_buildable = False
        self._options = options
        self._draw = draw
        self._progress = progress

    def add(self, iteration: Iteration) -> None:
        options = self._options
        if self._progress is not None:
            self._progress.clear()
        if isinstance(iteration, SafeIteration):
            if iteration.obstacle is None or not self.has_buildable:
                replace_file(options.output, json.dumps(to_json(iteration.schedule)) + "\n")
                if self._draw is not None:
                    replace_file(options.picture, self._draw(iteration.schedule))
            self.has_buildable |= iteration.obstacle is None
        else:
            if options.save_bug is not None and self.bugs == 0:
                save_schedule(iteration.result, options.save_bug)
            self.bugs += 1
        if not options.json:
            with writing():
                schedules.write_iteration(iteration, sys.stdout, color=options.color)


def _prove(options: Namespace) -> int:
    useless = ("until", "integers", "timeout", "output", "save_bug", "json")
    for option in COMMANDS["schedule"].options:
        if option.keyword in useless and option.words(getattr(options, option.keyword)):
            raise InputError(f"{option.flag} is for the search for a schedule; with --check there is none")
    draw = _drawing(options.picture)
    model, schedule = load_scheduled(options, options.check)
    problems = check(model, schedule)
    if draw is not None:
        replace_file(options.picture, draw(schedule))
    with writing():
        for problem in problems:
            print(visible(f"does not hold: {problem}"))
        if not problems:
            print("proved: all executions under this schedule are safe, free of deadlocks and fair")
    return 1 if problems else 0


def _drawing(file: str | None) -> _Drawing | None:
    """How to draw a picture in the format that the name of its file asks for."""
    draw = None if file is None else _PICTURES.get(os.path.splitext(file)[1])
    if file is not None and draw is None:
        raise InputError(f"--picture {file}: the name of a picture ends in .svg or .dot")
    return draw
