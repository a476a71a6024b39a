"""Steps that the scheduler does not see, and the ways that they lead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mazurka.constrained.enforce.validation.context import Check, Context
from mazurka.constrained.enforce.validation.places import is_plain, words_of
from mazurka.constrained.graphs import on_cycles, reached
from mazurka.constrained.model import Location, SharedAccess, Transition
from mazurka.constrained.model.terms import select, substitute
from mazurka.constrained.proof import ProofNode

_LARGEST_REGION = 20_000  # how many steps of its own a thread may take in a row without being seen

# A node, and for threads whose steps are ahead of the proof the points at which they are known to arrive.
Element = tuple[int, tuple[tuple[int, int], ...]]
Elements = frozenset[Element]


@dataclass(eq=False, slots=True)
class Way:
    """How nodes come to where a thread has its turn: those that are reached, those on the way there, and the threads
    (as bits) that take unseen steps on all ways."""

    reached: Elements
    passed: frozenset[int]
    moved: int


class Ways(Check):
    """Goes on from nodes of the proof by unseen steps. `left_out_unseen` are those at operations that are left out."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.left_out_unseen: dict[Transition, None] = {}
        self._ways: dict[tuple[Element, int, int], Way | None] = {}
        self._notes: dict[str, None] = {}  # why something cannot go on, perhaps

    def location(self, element: Element, thread: int) -> Location:
        return self._nodes[element[0]].locations[thread]

    def _settled(self, number: int, arriving: Iterable[tuple[int, int]]) -> Element | None:
        """At a node, without the arrivals that have come true. None: one has not, so no execution is there."""
        kept: list[tuple[int, int]] = []
        for thread, point in arriving:
            shown = self._native.shown(self._nodes[number].locations[thread])
            if shown is None:
                kept.append((thread, point))
            elif shown != point:
                return None
        return number, tuple(kept)

    def _successors(self, element: Element, thread: int) -> Iterator[tuple[Transition, Element]]:
        for edge in self._nodes[element[0]].edges:
            if edge.transition.thread == thread:
                after = self._settled(self._proof.uncovered(edge.target), element[1])
                if after is not None:
                    yield edge.transition, after

    def _unseen_steps(self, element: Element) -> list[tuple[int, list[Element]]]:
        """The threads that may take a step here which the scheduler does not see, and where that leads to."""
        node = self._nodes[element[0]]
        found = []
        for thread in node.threads:
            location = node.locations[thread]
            if self._native.is_seen(location):
                continue
            steps = list(self._successors(element, thread))
            if all(self._may_be_unseen(element[0], transition) for transition, _ in steps):
                found.append((thread, [after for _, after in steps]))
        return found

    def _may_be_unseen(self, number: int, transition: Transition) -> bool:
        location = transition.source
        where = self._native.place(location)
        if transition.target.rest in ("exit", "end", "return"):
            self._notes[f"{where} ends, and the scheduler does not see it"] = None
            return False
        if location not in self._native.dropped:
            if transition.accesses:
                self._notes[f"{where} touches what others touch, and the scheduler does not see it"] = None
            return not transition.accesses
        effect = self._native.dropped[location]
        if self._level < 2:
            self._say(f"{where} is left to the program, which this level does not do")
        if effect is None:
            self.left_out_unseen[transition] = None
        else:
            words = words_of(transition)
            known = [self._value(number, access) for access in words]
            if len(words) != 1 or words[0].writes or known != [effect] or not is_plain(words[0].variable, effect):
                self._say(f"{where} gives always {effect}, which may not be what it reads")
        return True

    def _index(self, number: int, access: SharedAccess) -> int | None:
        """The element of an array that is accessed at a node, if it is always the same."""
        if access.index is None:
            return None
        index = substitute(access.index, self._facts_at(number).known)
        return index.value if index.is_constant else None

    def _value(self, number: int, access: SharedAccess) -> int | None:
        """What is read at a node, if it is always the same."""
        term = access.variable.term
        if access.variable.is_array:
            if access.index is None:
                return None
            term = select(term, access.index)
        value = substitute(term, self._facts_at(number).known)
        return value.value if value.is_constant else None

    def _way(self, element: Element, thread: int, point: int) -> Way | None:
        """How to come, by unseen steps, to where a thread has its turn at a point, whatever the inputs are."""
        key = (element, thread, point)
        if key not in self._ways:
            self._ways[key] = self._find_way(element, thread, point)
        return self._ways[key]

    def _find_way(self, start: Element, thread: int, point: int) -> Way | None:
        def is_goal(element: Element) -> bool:
            node = self._nodes[element[0]]
            return self._native.points.get(node.locations[thread]) == point and thread in node.threads

        if is_goal(start):
            return Way(frozenset((start,)), frozenset((start[0],)), 0)
        choices: dict[Element, list[tuple[int, list[Element]]]] = {}
        goals: set[Element] = set()
        pending = [start]
        while pending:
            element = pending.pop()
            if is_goal(element):
                goals.add(element)
            elif element not in choices:
                if len(choices) >= _LARGEST_REGION:
                    return None
                choices[element] = self._unseen_steps(element)
                pending += [after for _, afters in choices[element] for after in afters]
        region = _Region(self._nodes, choices, goals)
        if start not in region.moved:
            return None
        passed = reached([start], lambda element: () if element in goals else region.chosen[element])
        return Way(frozenset(passed.keys() & goals), frozenset(number for number, _ in passed), region.moved[start])

    def arriving(self, element: Element, thread: int) -> frozenset[int]:
        """The points at which a thread can arrive. Where it has its turn the proof knows more than its code says, and
        that holds at other times as well: nobody else has to do with its unseen steps."""
        found: set[int] = set()
        passed = {element}
        pending = [element]
        while pending:
            current = pending.pop()
            location = self.location(current, thread)
            shown = self._native.shown(location)
            if shown is not None:
                found.add(shown)
            elif thread not in self._nodes[current[0]].threads:
                found |= self._native.ahead(location).arrivals
            else:
                for _, after in self._successors(current, thread):
                    if after not in passed:
                        passed.add(after)
                        pending.append(after)
        return frozenset(found)


_Surely = list[tuple[Element, list[Element], int]]


class _Region:
    """The elements from which goals are surely reached by unseen steps: by those that are `chosen` at each, with the
    threads (as bits) that have `moved` then. `choices` are all such steps: a thread, and where it may lead to."""

    def __init__(
        self,
        nodes: Sequence[ProofNode],
        choices: Mapping[Element, list[tuple[int, list[Element]]]],
        goals: Iterable[Element],
    ) -> None:
        self.moved = dict.fromkeys(goals, 0)
        self.chosen: dict[Element, list[Element]] = {}
        self._nodes = nodes
        self._choices = choices
        users: dict[Element, list[Element]] = {}
        for element, steps in choices.items():
            for _, afters in steps:
                for after in afters:
                    users.setdefault(after, []).append(element)
        work, later = list(choices), list(choices)  # loops are looked at when nothing else is left
        while work or later:
            is_loop = not work
            element = (work or later).pop()
            find = self._after_a_loop if is_loop else self._at_once
            steps = choices[element] if element not in self.moved else []
            together = next(filter(None, (find(element, *step) for step in steps)), None)
            if together is not None:
                for each, afters, bits in together:
                    self.moved[each], self.chosen[each] = bits, afters
                    work += users.get(each, ())
                later = list(choices) if is_loop else later

    def _at_once(self, element: Element, thread: int, afters: list[Element]) -> _Surely | None:
        """Whether an unseen step of a thread surely leads to where it is known how to go on. Gives the elements for
        which that is so, with where they lead to and the threads that move."""
        if not all(after in self.moved for after in afters):
            return None
        bits = -1
        for after in afters:
            bits &= self.moved[after]
        return [(element, afters, bits | 1 << thread)]

    def _after_a_loop(self, element: Element, thread: int, afters: list[Element]) -> _Surely | None:
        """The same for several unseen steps of a thread, which may go round loops that are known to end."""
        inside: dict[Element, list[Element]] = {}
        pending = [(element, afters)]
        while pending:
            current, targets = pending.pop()
            if current in inside:
                continue
            inside[current] = targets
            for after in targets:
                if after not in self.moved:
                    own = next((its for other, its in self._choices.get(after, ()) if other == thread), None)
                    if own is None:
                        return None
                    pending.append((after, own))
        order = {each: position for position, each in enumerate(inside)}
        rounds = on_cycles([
            [] if self._nodes[each[0]].locations[thread].ends else [order[to] for to in targets if to in order]
            for each, targets in inside.items()
        ])  # fmt: skip
        leaves = any(after in self.moved for targets in inside.values() for after in targets)
        if rounds or not leaves:
            return None
        return [(each, targets, 1 << thread) for each, targets in inside.items()]
