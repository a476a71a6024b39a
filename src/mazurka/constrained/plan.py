"""Program schedules: a proof cut into sections without branches, in each of which only dependent events are ordered.

A *section path* follows the proof from a node without meeting a branch on its way, through nodes that cover others. Its
*section schedule* is the partial order of its events in which dependent ones keep their order: all linear extensions of
it are equivalent to the path, so each thread reads and writes the same values in all of them, and between two sections
the state is again one of the proof's. A *program schedule* connects sections: an execution follows one after the other,
and all events of a section come before those of the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from mazurka.constrained.constants import constants_at, with_constants
from mazurka.constrained.graphs import section_starts
from mazurka.constrained.model import StateVariable, Transition, dependent
from mazurka.constrained.model.terms import INDEX_WIDTH, constant, substitute
from mazurka.constrained.proof import Proof


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """A transition, taken at a node of the proof. A silent one belongs to the same step of its thread as the one before
    it: it touches nothing that is shared, so nobody waits for it.

    `values` are those of the scalar shared variables that it reads, where they are known to be always the same.
    `indices` are, for each access of the transition, the array index where that is known to be always the same."""

    thread: int
    transition: Transition
    node: int
    values: Mapping[StateVariable, int]
    indices: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SectionSchedule:
    """A section path from the node `start` to the node `end`, both of the program schedule. It is the one that is
    followed when `thread` takes `transition` at `start`: that is its first event.

    `order` is the section schedule: pairs of event numbers, the first before the second, without those that follow
    from others. Events of one thread are ordered, too."""

    start: int
    thread: int
    transition: Transition
    events: tuple[Event, ...]
    order: tuple[tuple[int, int], ...]
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class ProgramSchedule:
    """`nodes` are the nodes of the proof at which sections begin and end; executions begin at node 0. None begins where
    the program has ended. Where sections of several threads begin at one node, any of these threads may go first, and
    for each of them, there is a section for each of its transitions that is possible there."""

    proof: Proof
    nodes: tuple[int, ...]
    sections: tuple[SectionSchedule, ...]
    _by_start: dict[int, list[SectionSchedule]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        for section in self.sections:
            self._by_start.setdefault(section.start, []).append(section)

    def sections_at(self, node: int) -> tuple[SectionSchedule, ...]:
        """The sections that begin at a node."""
        return tuple(self._by_start.get(node, ()))


def program_schedule(proof: Proof, *, repeat: int = 1, elements: bool = False) -> ProgramSchedule:
    """The program schedule of a proof with the longest sections: they end only at branches, where several threads may
    run, where the program ends, and once in each cycle without any of these.

    repeat: follow a cycle of a single section that many times before the section ends. elements: accesses to different
    elements of an array need no order where the indices are known."""
    proof = with_constants(proof)
    starts = _section_starts(proof)
    sections: list[SectionSchedule] = []
    for start in starts:
        for edge in proof.nodes[start].edges:
            events = [_event(proof, start, edge.transition)]
            current = proof.uncovered(edge.target)
            rounds = repeat if len(proof.nodes[start].edges) == 1 else 1
            while True:
                if current in starts:
                    rounds -= 1
                    if current != start or rounds == 0:
                        break
                (only,) = proof.nodes[current].edges
                events.append(_event(proof, current, only.transition))
                current = proof.uncovered(only.target)
            order = section_order(events, elements=elements)
            sections.append(SectionSchedule(start, events[0].thread, edge.transition, tuple(events), order, current))
    return ProgramSchedule(proof, tuple(starts), tuple(sections))


def _section_starts(proof: Proof) -> dict[int, None]:
    """The nodes at which sections begin and end, as a set in the order in which the proof's graph reaches them."""

    def successors(number: int) -> list[int]:
        return [proof.uncovered(edge.target) for edge in proof.nodes[number].edges]

    def only(number: int) -> int | None:
        return successors(number)[0] if len(proof.nodes[number].edges) == 1 else None

    return section_starts(0, successors, only, partial(_cut, proof))


def _cut(proof: Proof, cycle: Sequence[int]) -> int:
    """Where a cycle without branches is cut: at the first of its nodes at which it is another thread's turn."""
    turns = [proof.nodes[number].edges[0].transition.thread for number in cycle]
    switches = (place for place, turn in enumerate(turns) if turn != turns[place - 1])
    return cycle[next(switches, 0)]


def _event(proof: Proof, number: int, transition: Transition) -> Event:
    known = constants_at(proof.model, proof.nodes[number])
    values: dict[StateVariable, int] = {}
    indices: list[int | None] = []
    for access in transition.accesses:
        if access.reads and access.variable.term in known:
            values[access.variable] = known[access.variable.term].value
        index = None if access.index is None else substitute(access.index, known)
        indices.append(index.value if index is not None and index.is_constant else None)
    return Event(transition.thread, transition, number, values, tuple(indices))


def section_order(events: Sequence[Event], *, elements: bool) -> tuple[tuple[int, int], ...]:
    """The order of dependent events, without the pairs that follow from others."""
    shapes = _with_known_indices(events) if elements else [event.transition for event in events]
    memo: dict[tuple[Transition, Transition], bool] = {}
    order: list[tuple[int, int]] = []
    before: list[int] = []  # for each event, the set of those before it, as bits
    for second, later in enumerate(shapes):
        implied = 0
        for first in range(second - 1, -1, -1):
            if implied >> first & 1:
                continue
            pair = (shapes[first], later)
            if pair not in memo:
                memo[pair] = dependent(*pair, elements=elements)
            if memo[pair]:
                order.append((first, second))
                implied |= before[first] | 1 << first
        before.append(implied)
    return tuple(sorted(order))


def _with_known_indices(events: Sequence[Event]) -> list[Transition]:
    """The events' transitions with constants for the array indices that are known. Equal ones are the same object."""
    made: dict[tuple[Transition, tuple[int | None, ...]], Transition] = {}
    for event in events:
        key = (event.transition, event.indices)
        if key not in made:
            accesses = tuple(
                access if index is None else replace(access, index=constant(index, INDEX_WIDTH))
                for access, index in zip(event.transition.accesses, event.indices, strict=True)
            )
            made[key] = replace(event.transition, accesses=accesses)
    return [made[event.transition, event.indices] for event in events]
