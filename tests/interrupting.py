"""Ctrl-C, as a person at a terminal types it while a search runs."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys


def interrupt_check(words: list[str], once: bytes, command: str = "check") -> tuple[int, str]:
    """Run `mazurka check` and interrupt it as soon as its progress line says `once`; its exit code and output."""
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
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    os.close(master)
    os.close(slave)
    return process.returncode, out
