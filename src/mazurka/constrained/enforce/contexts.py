"""By which calls a thread has come to where it is.

A line of a function that is called from several places can be an event in some of them and not in others, or be several
events. So the calls of such functions are counted, in a number of each thread that stands for the calls that are under
way. Functions that are called from one place only need none of that, and nor do those without events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mazurka.constrained.enforce.code import Code, Line, Named, named
from mazurka.constrained.enforce.weaving import MULTIPLIER

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


def find_contexts(code: Code, events: Iterable[Line]) -> Contexts:
    """`events` are the lines at which threads can have events."""
    owners = code.owners
    defined = dict.fromkeys(owners.values())
    called = {call: named(call[0], name, defined) if name else code.pointed_to for call, name in code.calls.items()}
    eventful = _closure(
        {owners[line] for line in events}, [(callee, owners[call]) for call in called for callee in called[call]]
    )
    places = Counter([callee for callees in called.values() for callee in callees] + code.pointed_to)
    counted = [
        call for call, callees in called.items() if any(callee in eventful and places[callee] > 1 for callee in callees)
    ]
    reached = _closure(
        {callee for call in counted for callee in called[call]},
        [(owners[call], callee) for call in called for callee in called[call]],
    )
    return Contexts(
        {call: number for number, call in enumerate(counted, 1)},
        frozenset(line for line, function in owners.items() if function in reached),
    )


def _closure(start: set[Named], edges: Iterable[tuple[Named, Named]]) -> set[Named]:
    found = set(start)
    edges = list(edges)
    while new := {target for source, target in edges if source in found} - found:
        found |= new
    return found
