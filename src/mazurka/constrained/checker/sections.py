"""That the sections of a schedule follow its proof, and keep all dependent events in order."""

from __future__ import annotations

from collections.abc import Iterator

from mazurka.constrained.checker.prover import Facts, Prover, can_be, claims_of, step_facts
from mazurka.constrained.model import Model, SharedAccess
from mazurka.constrained.model.terms import INDEX_WIDTH, compare, conjunction, constant
from mazurka.constrained.plan import Event, ProgramSchedule, SectionSchedule


class SectionCheck:
    def __init__(self, model: Model, schedule: ProgramSchedule) -> None:
        self._model = model
        self._schedule = schedule
        self._nodes = schedule.proof.nodes
        self._prover = Prover()
        self._problems: list[str] = []

    def problems(self) -> list[str]:
        if 0 not in self._schedule.nodes:
            self._problems.append("the schedule does not begin where the program does")
        for number in self._schedule.nodes:
            self._beginnings(number)
        for number, section in enumerate(self._schedule.sections):
            problems = self._path(section) or self._values(section) or self._order(section)
            self._problems += [f"section {number}: {problem}" for problem in problems]
        return self._problems

    def _beginnings(self, number: int) -> None:
        """That wherever the proof can be at the end of a section, there is one section to follow for each thing that a
        thread which may run there can do."""
        if not 0 <= number < len(self._nodes) or self._nodes[number].covered_by is not None:
            self._problems.append(f"sections begin at node {number}, where executions do not go on")
            return
        node, sections = self._nodes[number], self._schedule.sections_at(number)
        for thread in {*node.threads, *(section.thread for section in sections)}:
            firsts = [section.transition for section in sections if section.thread == thread]
            edges = [edge.transition for edge in node.edges if edge.transition.thread == thread]
            if sorted(first.number for first in firsts) != sorted(edge.number for edge in edges):
                name = self._model.threads[thread].display
                self._problems.append(f"node {number}: there is not one section for each edge of thread {name}")

    def _path(self, section: SectionSchedule) -> list[str]:
        """That a section follows the proof, and meets a branch only at its beginning."""
        if not {section.start, section.end} <= set(self._schedule.nodes):
            return ["it does not begin and end at nodes of the schedule"]
        if not section.events or section.events[0].transition is not section.transition:
            return ["its first event is not the transition that it is chosen by"]
        if section.transition.thread != section.thread:
            return ["its first event is not of the thread that it is chosen by"]
        current = section.start
        for number, event in enumerate(section.events):
            own = [edge for edge in self._nodes[current].edges if edge.transition.thread == event.thread]
            edge = next((edge for edge in own if edge.transition is event.transition), None)
            if edge is None or event.node != current:
                return [f"event {number} does not follow the proof"]
            if number and len(self._nodes[current].edges) > 1:
                return [f"event {number} is a branch, or others may run instead"]
            current = self._schedule.proof.uncovered(edge.target)
        return [] if current == section.end else [f"it does not end at node {section.end}"]

    def _values(self, section: SectionSchedule) -> list[str]:
        """That the values and indices which events are said to have are theirs."""
        problems = []
        for number, event in enumerate(section.events):
            facts = Facts([*claims_of(self._model, self._nodes[event.node]), *step_facts(event.transition)])
            if not all(can_be(variable, value) for variable, value in event.values.items()):
                problems.append(f"event {number} has a value that is not one of its variable's")
                continue
            claims = [
                compare("eq", variable.term, constant(value, variable.term.width))
                for variable, value in event.values.items()
            ]
            if len(event.indices) != len(event.transition.accesses):
                problems.append(f"event {number} does not have one index for each access")
                continue
            for access, index in zip(event.transition.accesses, event.indices, strict=True):
                if index is not None and (access.index is None or index >> INDEX_WIDTH):
                    problems.append(f"event {number} has an index of {access.variable.display} that it cannot have")
                elif index is not None and access.index is not None:
                    claims.append(compare("eq", access.index, constant(index, INDEX_WIDTH)))
            if not self._prover.implies(facts, conjunction(claims)):
                problems.append(f"event {number} may have other values than it says")
        return problems

    def _order(self, section: SectionSchedule) -> list[str]:
        """That events which are not ordered, by one pair or by several, are independent."""
        events = section.events
        before = [0] * len(events)  # for each event, the set of those before it, as bits
        for first, second in sorted(section.order, key=lambda pair: pair[1]):
            if not 0 <= first < second < len(events):
                return [f"its order has the pair {first}, {second}, which goes backwards"]
            before[second] |= before[first] | 1 << first
        return [
            f"events {first} and {second} depend on each other but are not ordered"
            for second in range(len(events))
            for first in range(second)
            if not before[second] >> first & 1 and not _independent(events[first], events[second])
        ]


def _independent(one: Event, other: Event) -> bool:
    """Whether two events lead to the same state in either order, and neither enables or disables the other."""
    if one.thread == other.thread:
        return False
    if other.thread in one.transition.starts or one.thread in other.transition.starts:
        return False
    if one.transition.target.rest == "exit" or other.transition.target.rest == "exit":
        return False
    for mine, my_index in _touches(one):
        for yours, your_index in _touches(other):
            if mine.variable is not yours.variable or not (mine.writes or yours.writes):
                continue
            if my_index is None or your_index is None or my_index == your_index:
                return False
    return True


def _touches(event: Event) -> Iterator[tuple[SharedAccess, int | None]]:
    """What an event touches in the model, and which element of it."""
    yield from zip(event.transition.accesses, event.indices, strict=True)
    for ghost in event.transition.ghosts:
        yield ghost, None
