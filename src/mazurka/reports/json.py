"""A result for programs: one JSON object (docs/json.md says what is in it)."""

from __future__ import annotations

import json
from typing import TextIO

from mazurka.result import Result


def write(result: Result, to: TextIO, *, race_schedules: bool = False, config: str | None = None) -> None:
    """`config` is the file that options were taken from."""
    json.dump({**result.to_json(race_schedules), "config": config}, to, indent=2)
    to.write("\n")
