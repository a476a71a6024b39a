"""A result for programs: one JSON object (docs/json.md says what is in it)."""

from __future__ import annotations

import json
from typing import TextIO

from mazurka.result import Result


def write(result: Result, to: TextIO) -> None:
    json.dump(result.to_json(), to, indent=2)
    to.write("\n")
