"""Ctrl-C, as a person types it while a search runs (or SIGTERM, as `timeout` sends it): when something has been seen,
however long that takes."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def interrupt_check(
    words: list[str], once: bytes, command: str = "check", how: signal.Signals = signal.SIGINT
) -> tuple[int, str, str]:
    """Run `mazurka check` and interrupt it as soon as its progress line says `once`; its exit code, its output and
    what the terminal has shown."""
    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "mazurka.cli", command, *words],
        stdout=subprocess.PIPE,
        stderr=slave,
        text=True,
        # Where the tests run in the background of a script, interrupts are ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        try:
            seen = b""
            while once not in seen:  # the search has begun
                seen += os.read(master, 1000)
            process.send_signal(how)
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    os.close(slave)
    with contextlib.suppress(OSError):  # the end of what a terminal shows that nobody has open any more
        while True:
            seen += os.read(master, 1000)
    os.close(master)
    return process.returncode, out, seen.decode()


def until_told(times: int, told: list[T]) -> Callable[[T], None]:
    """Keeps what a search tells of its progress, and interrupts the search when it has done so often enough."""

    def watch(progress: T) -> None:
        told.append(progress)
        if len(told) == times:
            raise KeyboardInterrupt

    return watch
