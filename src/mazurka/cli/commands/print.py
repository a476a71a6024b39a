"""`mazurka print`."""

from __future__ import annotations

from argparse import Namespace

from mazurka.checking import load
from mazurka.cli.inputs import program
from mazurka.cli.output import writing
from mazurka.options import COMMANDS
from mazurka.program.printer import format_program


def run(options: Namespace) -> int:
    source, compiling = program(options)
    asked = {option.keyword: getattr(options, option.keyword) for option in COMMANDS["print"].options}
    loaded = load(source, **compiling, **asked)
    with writing():
        print(format_program(loaded))
    return 0
