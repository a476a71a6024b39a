"""`mazurka build`."""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from mazurka.cli.files import keep, try_to_save
from mazurka.constrained import load_model
from mazurka.constrained.checker import check
from mazurka.constrained.enforce import build
from mazurka.constrained.files import arguments_in, load
from mazurka.constrained.model import Model
from mazurka.constrained.plan import ProgramSchedule
from mazurka.errors import InputError
from mazurka.program.orders import weak_orders_of
from mazurka.reports.text import taken_for_seq_cst


def run(options: Namespace) -> int:
    keep([*options.files, options.schedule], options.output)
    try_to_save(options.output, "the program")
    model, schedule = load_scheduled(options, options.schedule)
    problems = check(model, schedule) if options.check else []
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise InputError(f"{options.schedule}: not a safe schedule of this program: {problems[0]}{more}")
    level = build(
        options.files,
        schedule,
        Path(options.output),
        optimise=options.optimise,
        compiler_arguments=options.compiling["compiler_arguments"],
        cc=options.compiling["cc"],
    )
    if level < options.optimise:
        print(f"mazurka: built at level {level}, since only that can be shown to keep to the schedule", file=sys.stderr)
    if taken := taken_for_seq_cst(weak_orders_of(model.program) if model.program is not None else ()):
        print(f"mazurka: {taken}, as schedules are about interleavings", file=sys.stderr)
    return 0


def load_scheduled(options: Namespace, file: str) -> tuple[Model, ProgramSchedule]:
    """A program and a schedule for it."""
    model = load_model(options.files, **_with_arguments_of(file, options.compiling))
    return model, load(Path(file), model)


def _with_arguments_of(schedule: str, compiling: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the program are those that its schedule is for. Who says others is mistaken."""
    given, stored = compiling["program_arguments"], arguments_in(Path(schedule))
    if stored is None:
        return compiling
    if given and given != stored:
        what = f"the arguments {shlex.join(stored)}" if stored else "no arguments"
        raise InputError(f"{schedule}: a schedule for {what}, not for {shlex.join(given)}; leave them out")
    return {**compiling, "program_arguments": stored}
