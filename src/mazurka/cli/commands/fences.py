"""`mazurka fences`."""

from __future__ import annotations

import sys
from argparse import Namespace

from mazurka.cli.again import check_command
from mazurka.cli.inputs import program
from mazurka.cli.output import progress_line, writing
from mazurka.fencing import fences
from mazurka.options import FENCES
from mazurka.reports import fences as reports


def run(options: Namespace) -> int:
    source, compiling = program(options)
    asked = {option.keyword: getattr(options, option.keyword) for option in FENCES}
    with progress_line(options) as progress:
        found = fences(source, **compiling, **asked, progress=progress.show_fences if progress is not None else None)
    with writing():
        if options.json:
            reports.write_json(found, sys.stdout, config=options.config_used)
        else:
            show_with = [check_command(options, "sc")] if found.interleaving else []
            reports.write(found, sys.stdout, show_with=show_with, config=options.config_used, color=options.color)
    return found.exit_code
