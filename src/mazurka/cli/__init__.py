"""The command line: `mazurka check`, `replay`, `schedule`, `build`, `fences`, `loops` and `print`.

parser.py     command lines, taken apart as the table of options says
output.py     what commands show; files.py: what they write; again.py: the commands that reports print
commands/     a module for each, with `run`, which is imported when it is asked for
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mazurka.cli.output import writing
from mazurka.cli.parser import make_parser, parse
from mazurka.errors import InputError, MazurkaError
from mazurka.escaping import visible
from mazurka.options import COMMANDS

EXIT_INPUT = 2
EXIT_INCOMPLETE = 3
EXIT_INTERNAL = 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without arrows still shows the rest
    try:
        with _terminated_as_interrupted():
            return _run(list(sys.argv[1:] if arguments is None else arguments))
    except InputError as error:
        _complain(error)
        return EXIT_INPUT
    except (KeyboardInterrupt, MemoryError) as stop:
        why = "interrupted" if isinstance(stop, KeyboardInterrupt) else "there is no more memory"
        print(f"mazurka: {why}", file=sys.stderr)
        return EXIT_INCOMPLETE
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


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM is like Ctrl-C: what `timeout`, a batch system or a container ends says what it has found until then. Not
    where somebody has asked for something else."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _run(words: list[str]) -> int:
    parser = make_parser()
    options = parse(parser, words)
    if options.version:
        import mazurka

        with writing():
            print(f"mazurka {mazurka.__version__}")
        return 0
    if options.cmake_dir:
        from importlib.resources import files

        with writing():
            print(files("mazurka") / "cmake")
        return 0
    if options.command is None:
        parser.print_help(sys.stderr)
        return EXIT_INPUT
    command = importlib.import_module(f"mazurka.cli.commands.{options.command}")
    try:
        code: int = command.run(options)
    except InputError as error:
        # Whoever is told of an option has perhaps not typed it.
        told = {option.flag for option in COMMANDS[options.command].options if option.keyword in options.configured}
        if told.intersection(str(error).split()):
            raise InputError(f"{error} ({options.config_used} has it)") from None
        raise
    return code


def _complain(error: InputError) -> None:
    """What a compiler printed is passed on as it is."""
    text = str(error).rstrip("\n")
    print(text if "\n" in text else f"mazurka: {visible(text)}", file=sys.stderr)
