"""A schedule: which thread takes each step of an execution. A plain value, to print, store, compare and replay."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mazurka.errors import InputError

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a thread, with the values of the choices that it makes on the way."""

    thread: str
    choices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Schedule:
    """The steps of one execution. Threads are named by the path of their creation ("main", "main.1", ...);
    `threads` lists them in the order of their numbers, which addresses of objects depend on."""

    threads: tuple[str, ...]
    steps: tuple[Step, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "threads": list(self.threads),
            "steps": [[step.thread, *step.choices] for step in self.steps],
        }

    @staticmethod
    def from_json(data: Any, origin: str = "schedule") -> Schedule:
        """Read what `to_json` gave; also accepts a whole result of `mazurka check --json`."""
        if isinstance(data, dict) and isinstance(data.get("schedule"), dict):
            data = data["schedule"]
        try:
            if data["format"] != FORMAT:
                raise InputError(f"{origin}: schedule format {data['format']}, but this version reads format {FORMAT}")
            threads = tuple(str(name) for name in data["threads"])
            steps = tuple(Step(str(first), tuple(int(choice) for choice in rest)) for first, *rest in data["steps"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{origin}: not a schedule as `mazurka check --json` writes it ({error!r})") from None
        return Schedule(threads, steps)

    @staticmethod
    def load(path: Path) -> Schedule:
        try:
            text = path.read_text()
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from None
        try:
            data = json.loads(text)
        except ValueError as error:
            raise InputError(f"{path}: not JSON: {error}") from None
        return Schedule.from_json(data, str(path))
