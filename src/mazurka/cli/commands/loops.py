"""`mazurka loops`."""

from __future__ import annotations

import sys
from argparse import Namespace

from mazurka.checking import explain_loops
from mazurka.cli.inputs import program
from mazurka.cli.output import writing
from mazurka.reports import loops


def run(options: Namespace) -> int:
    source, compiling = program(options)
    fates = explain_loops(source, **compiling, memory=options.memory)
    with writing():
        (loops.write_json if options.json else loops.write)(fates, sys.stdout)
    return 0
