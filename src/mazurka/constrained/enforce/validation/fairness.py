"""That nobody is left out, and that who has nothing more to do is where it should be."""

from __future__ import annotations

from mazurka.constrained.enforce.validation.context import Check, Context
from mazurka.constrained.enforce.validation.walks import Vertex, Walks
from mazurka.constrained.enforce.validation.ways import Elements
from mazurka.constrained.graphs import on_cycles


class Fairness(Check):
    def __init__(self, context: Context, walks: Walks) -> None:
        super().__init__(context)
        self._walks = walks

    def check(self) -> None:
        self._standing()
        self._fairness()

    def _standing(self) -> None:
        """That a thread that has no event any more is where it is expected."""
        for vertex in self._walks.vertices:
            options = self._stage(vertex.stage).options
            for thread in range(self._tables.threads):
                expected = self._stage(vertex.stage).standing[thread]
                rests = not options or (len(options) == 1 and self._never_again(vertex, thread))
                if not rests and (len(options) == 1 or expected == self._nowhere):
                    continue
                self._expected(vertex.stage, thread, vertex.elements, created=not rests)
        for walk in self._walks.all:  # threads may still go on to where they are seen next when the program has ended
            for thread in range(self._tables.threads) if walk.events else ():
                if self._stage(walk.stage).standing[thread] != self._nowhere:
                    self._expected(walk.stage, thread, walk.events[-1].move.exited, created=False)

    def _expected(self, stage: int, thread: int, elements: Elements, *, created: bool) -> None:
        expected = self._stage(stage).standing[thread]
        for point in sorted(self._standing_at(elements, thread, created=created) - {expected}):
            self._say(
                f"{self._native.at(thread, point)} has no event after section {stage}, but is expected elsewhere: it "
                "would leave the schedule"
            )

    def _standing_at(self, elements: Elements, thread: int, *, created: bool) -> set[int]:
        """The points at which a thread may be seen after a stage. created: also if it is just being created."""
        places: set[int] = set()
        for element in elements:
            location = self._walks.location(element, thread)
            if location.rest == "unborn":
                if created:
                    places |= self._native.ahead(self._model.threads[thread].entry).arrivals
            else:
                places |= self._walks.arriving(element, thread)
        return places - {self._nowhere}

    def _never_again(self, vertex: Vertex, thread: int) -> bool:
        """Whether only one way goes on from a stage, for ever, without an event of the thread."""
        passed: set[Vertex] = set()
        while vertex not in passed:
            passed.add(vertex)
            if len(self._stage(vertex.stage).options) != 1 or not vertex.after:
                return False
            (walk,) = vertex.after
            if walk.target is None or self._stage(walk.stage).events[thread]:
                return False
            vertex = walk.target
        return True

    def _fairness(self) -> None:
        """That no execution passes over for ever a thread that can go on again and again. On a cycle that does, the
        thread neither moves nor has an option where others have some, too: who is offered a turn again and again takes
        one."""
        count = len(self._walks.vertices)
        for thread in range(self._tables.threads):
            successors: list[list[int]] = [[] for _ in range(count + len(self._walks.all))]
            for number, walk in enumerate(self._walks.all, count):
                options = self._stage(walk.source.stage).options
                offered = len(options) > 1 and any(option.thread == thread for option in options)
                if walk.target is not None and not walk.moved >> thread & 1 and not offered:
                    successors[walk.source.number].append(number)
                    successors[number].append(walk.target.number)
            for number in on_cycles(successors):
                if number >= count:
                    walk = self._walks.all[number - count]
                    for node in sorted(walk.passed):
                        location = self._nodes[node].locations[thread]
                        if location in self._native.dropped or self._can_go_on(node, thread):
                            self._say(
                                f"{self._native.place(location)} can go on, but section {walk.stage} and others can be "
                                "repeated for ever without it"
                            )
