"""The loops of a program for people, and as JSON (docs/json.md says what is in it)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TextIO

from mazurka.escaping import visible
from mazurka.transforms.loops.report import LoopFate, PureIteration


def write(loops: Sequence[LoopFate], to: TextIO) -> None:
    for loop in loops:
        for line in _lines(loop):
            print(visible(line), file=to)
    if not loops:
        print("no loops", file=to)


def write_json(loops: Sequence[LoopFate], to: TextIO) -> None:
    json.dump([loop.to_json() for loop in loops], to, indent=2)
    to.write("\n")


def _lines(loop: LoopFate) -> list[str]:
    lines = [f"{_place(loop) or 'a loop'} in {loop.function}"]
    for idle in loop.idle:
        where = f" at {_place(idle)}" if idle.file else ""
        when = "no round changes anything" if idle.condition == "always" else f"no change if {idle.condition}"
        lines.append(f"  {when}: the thread {'waits' if idle.awaited else 'stops'}{where}")
    if loop.obstacle:
        lines.append(f"  {'there may be more' if loop.idle else 'goes round as it is'}: {loop.obstacle}")
    return lines


def _place(at: LoopFate | PureIteration) -> str:
    return f"{at.file}:{at.line}" if at.file else ""
