"""Sizes of memory, as people write and read them: 500M, 4GiB; "512 KiB", "3.2 GiB"."""

from __future__ import annotations

import re
from decimal import Decimal

_UNITS = "KMGT"
_WRITTEN = re.compile(rf"(\d+(?:\.\d+)?) ?(?:([{_UNITS}])(?:i?B)?|B|bytes?)?", re.IGNORECASE)


def parse_size(text: str) -> int:
    """The bytes of "500M", "500MB" or "500 MiB"; a `ValueError` if that is not a size. Units are powers of 1024."""
    written = _WRITTEN.fullmatch(text)
    if written is None:
        raise ValueError(f"{text!r} is not a size: write it like 500M, 4G or 4GiB")
    number, unit = written.groups()
    return int(Decimal(number) * 1024 ** (_UNITS.index(unit.upper()) + 1 if unit else 0))


def format_size(size: int) -> str:
    value, unit = float(size), "byte" if size == 1 else "bytes"
    for letter in _UNITS:
        if value < 1000:
            break
        value, unit = value / 1024, f"{letter}iB"
    digits = 0 if size < 1000 or value >= 10 or round(value, 1) == round(value) else 1
    return f"{value:,.{digits}f} {unit}"
