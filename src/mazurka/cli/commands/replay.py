"""`mazurka replay`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from mazurka import checking
from mazurka.cli.inputs import program
from mazurka.cli.output import report
from mazurka.errors import InputError
from mazurka.executions.schedule import Schedule


def run(options: Namespace) -> int:
    if not options.sources or not options.files:
        raise InputError("replay needs a schedule after the source files: mazurka replay FILE… SCHEDULE.json")
    source, compiling = program(options)
    result = checking.replay(
        source,
        Schedule.load(Path(options.files[-1])),
        **compiling,
        allow_livelock=options.allow_livelock,
        uninitialised=options.uninitialised,
        leaks=options.leaks,
        any_status=options.any_status,
        max_steps=options.max_steps,
    )
    return report(result, options)
