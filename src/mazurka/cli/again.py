"""Command lines to copy that follow from the present one: to see a bug again, to build a program."""

from __future__ import annotations

import os
import shlex
from argparse import Namespace
from collections.abc import Sequence

from mazurka.options import COMMANDS, CONFIGURATION, PROJECT, Again, repeated


def replay_commands(options: Namespace) -> list[str]:
    """Lines that show the bug's execution again: where its schedule was not saved, that comes first."""
    schedule = options.save_schedule or "bug.json"
    replay = _command(options, "replay", [schedule], ["judging"])
    if options.save_schedule:
        return [replay]
    needed: list[Again] = ["judging", "finding"]
    if options.algorithm == "random":
        needed.append("walking")
    return [_command(options, "check", ["--save-schedule", schedule], needed), replay]


def check_command(options: Namespace, memory: str) -> str:
    """A line that checks the program under a memory model."""
    return _command(Namespace(**{**vars(options), "memory": memory}), "check", [], ["judging", "finding"])


def see_bug_commands(options: Namespace) -> list[str]:
    """The same for the first bug of a search for schedules."""
    file = options.save_bug or "bug.json"
    replay = _command(options, "replay", [file])
    return [replay] if options.save_bug else [_command(options, "schedule", ["--save-bug", file], ["finding"]), replay]


def build_commands(options: Namespace) -> list[str]:
    """Lines that run the program under the schedule that was found."""
    program = os.path.splitext(os.path.basename(options.files[0]))[0]
    build = _command(options, "build", ["--schedule", options.output, "-o", program])
    return [build, shlex.join([f"./{program}", *options.compiling["program_arguments"]])]


def _command(options: Namespace, command: str, rest: Sequence[str], again: Sequence[Again] = ()) -> str:
    """A command line with the same files, options for the compiler and arguments of the program."""
    compiling = options.compiling
    words = ["mazurka", command, *compiling["compiler_arguments"]]
    words += ["--cc", compiling["cc"]] if compiling["cc"] else []
    words += repeated([*CONFIGURATION, *PROJECT], vars(options), ["judging"])
    words += repeated(COMMANDS[command].options, vars(options), again)
    arguments = ["--", *compiling["program_arguments"]] if compiling["program_arguments"] else []
    return shlex.join([*words, *options.files, *rest, *arguments])
