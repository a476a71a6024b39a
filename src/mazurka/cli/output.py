"""What commands show: reports on the standard output, a line on the terminal while a search runs."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mazurka.errors import InputError

if TYPE_CHECKING:
    from mazurka.constrained.impact.iterative import SearchProgress
    from mazurka.engines.stateful import StateProgress
    from mazurka.engines.stateless import Progress
    from mazurka.fencing import FencesProgress
    from mazurka.result import Result


def report(result: Result, options: Namespace, replay_with: Sequence[str] = (), *, race_schedules: bool = False) -> int:
    """Write the report of a result. Returns the exit code."""
    from mazurka.reports import json, text

    with writing():
        if options.json:
            json.write(result, sys.stdout, race_schedules=race_schedules, config=options.config_used)
        else:
            text.write(result, sys.stdout, replay_with=replay_with, config=options.config_used, color=options.color)
    return result.verdict.exit_code


@contextmanager
def writing() -> Iterator[None]:
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


@contextmanager
def progress_line(options: Namespace) -> Iterator[ProgressLine | None]:
    """A line that is there for as long as a search runs, if there is a terminal and it is wanted."""
    line = ProgressLine() if options.progress and sys.stderr.isatty() else None
    try:
        yield line
    finally:
        if line is not None:
            line.clear()


class ProgressLine:
    """One line on a terminal that says how far the search is."""

    def __call__(self, progress: Progress | StateProgress) -> None:
        from mazurka.reports.text import progress_line

        self._show(progress_line(progress))

    def show_iteration(self, number: int, progress: SearchProgress, seconds: float) -> None:
        from mazurka.reports.schedules import progress_line

        self._show(progress_line(number, progress, seconds))

    def show_fences(self, progress: FencesProgress) -> None:
        from mazurka.reports.fences import progress_line

        self._show(progress_line(progress))

    def clear(self) -> None:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _show(self, line: str) -> None:
        # A line that the terminal breaks could not be cleared.
        line = line[: shutil.get_terminal_size().columns - 1]
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
