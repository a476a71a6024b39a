"""By which calls a thread has come to where it is.

A line of a function that is called from several places can be an event in some of them and not in others, or be several
events. So the calls of such functions are counted, in a number of each thread that stands for the calls that are under
way. Functions that are called from one place only need none of that, and nor do those without events.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mazurka.enforcement.code import Line
from mazurka.enforcement.weaving import MULTIPLIER, callee_at, functions

_Function = tuple[str, str]  # a file and a name

_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Contexts:
    """The numbers of the calls that are counted, and the lines for which it matters."""

    calls: Mapping[Line, int]
    lines: frozenset[Line]

    def number(self, line: Line, calls: Iterable[Line]) -> int:
        """The thread's number when it has come to a line by these calls, outermost first."""
        if line not in self.lines:
            return 0
        number = 0
        for call in calls:
            if call in self.calls:
                number = (number + self.calls[call]) * MULTIPLIER & _MASK
        return number


def find_contexts(texts: Mapping[str, str], events: Iterable[Line]) -> Contexts:
    """`events` are the lines at which threads can have events."""
    lines = {file: text.split("\n") for file, text in texts.items()}
    bodies = {(file, name): range(*span) for file, text in texts.items() for name, span in functions(text)}
    owner = {(file, line): (file, name) for (file, name), span in bodies.items() for line in span}
    pointed_to = _pointed_to(texts, bodies)
    called: dict[Line, list[_Function]] = {}
    for file, line in owner:
        name = callee_at(lines[file][line - 1])
        if name is not None:
            called[file, line] = _callees(file, name, bodies) if name else pointed_to
    eventful = _closure(
        {owner[line] for line in events}, [(callee, owner[call]) for call in called for callee in called[call]]
    )
    places = Counter([callee for callees in called.values() for callee in callees] + pointed_to)
    counted = [
        call for call, callees in called.items() if any(callee in eventful and places[callee] > 1 for callee in callees)
    ]
    reached = _closure(
        {callee for call in counted for callee in called[call]},
        [(owner[call], callee) for call in called for callee in called[call]],
    )
    return Contexts(
        {call: number for number, call in enumerate(counted, 1)},
        frozenset((function[0], line) for function in reached for line in bodies[function]),
    )


def _callees(file: str, name: str, bodies: Mapping[_Function, range]) -> list[_Function]:
    """The program's functions of that name; one of the same file hides others."""
    return [(file, name)] if (file, name) in bodies else [function for function in bodies if function[1] == name]


def _pointed_to(texts: Mapping[str, str], bodies: Mapping[_Function, range]) -> list[_Function]:
    """The functions that can be called through pointers: the program has their address."""
    found: set[_Function] = set()
    for file, text in texts.items():
        for name in re.findall(r"@([\w.$]+)(?!\(|[\w.$])", text):
            found.update(_callees(file, name, bodies))
    return sorted(found)


def _closure(start: set[_Function], edges: Iterable[tuple[_Function, _Function]]) -> set[_Function]:
    found = set(start)
    edges = list(edges)
    while new := {target for source, target in edges if source in found} - found:
        found |= new
    return found
