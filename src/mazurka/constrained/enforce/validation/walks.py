"""Some order of the events of each stage that the proof permits, wherever it can be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from mazurka.constrained.enforce.validation.context import Context
from mazurka.constrained.enforce.validation.places import words_of
from mazurka.constrained.enforce.validation.reading import Stage, TableOption, TableStep
from mazurka.constrained.enforce.validation.ways import Element, Elements, Ways
from mazurka.constrained.graphs import reached
from mazurka.constrained.model import Location, StateVariable, Transition

# How much is tried before a stage counts as one whose events have no order that follows the proof, ...
_MOST_ATTEMPTS = 5000
# ... and with how many sets of nodes a stage is looked at before they are united.
_MOST_SETS = 16


@dataclass(eq=False, slots=True)
class Move:
    """An event of a thread at all nodes of a set. `steps` are its transitions, with their nodes."""

    thread: int
    steps: tuple[tuple[int, Transition], ...]
    after: Elements
    passed: frozenset[int]
    moved: int
    # What it does, natively and in the model.
    touched: dict[tuple[StateVariable, int | None], bool] = field(default_factory=dict)  # and whether it writes
    word: tuple[StateVariable, int | None] | None = None  # if it loads or stores a single one ...
    value: int | None = None  # ... and what it loads, if that is always the same
    writes: bool = False
    prints: bool = False
    goes_on: bool = False  # after its instruction
    exited: Elements = frozenset()  # where it ends the program
    ends: bool = False

    @property
    def location(self) -> Location:
        return self.steps[0][1].source


@dataclass(slots=True)
class WalkEvent:
    """An event of a walk: of `thread`, whose clock it brings to `clock`; `flags` are those that count."""

    thread: int
    clock: int
    move: Move
    step: TableStep
    flags: int


@dataclass(eq=False, slots=True)
class Walk:
    """A stage, from the end of another one: its events, in an order of the proof. `decides`: the first of them is over,
    for everybody, when the stage begins. `passed` are the nodes on the way, `moved` the threads that certainly move."""

    source: Vertex
    stage: int
    option: TableOption
    events: list[WalkEvent]
    decides: bool
    target: Vertex | None = None
    passed: set[int] = field(default_factory=set)
    moved: int = 0
    by_clock: dict[tuple[int, int], int] = field(default_factory=dict)

    def flags_of(self, thread: int, clock: int) -> int | None:
        """Those of the event that brings a thread's clock there."""
        return self.by_clock.get((thread, clock))


@dataclass(eq=False, slots=True)
class Vertex:
    """The end of a stage, at one of some nodes."""

    number: int
    stage: int
    elements: Elements
    before: list[Walk] = field(default_factory=list)
    after: list[Walk] = field(default_factory=list)


class Walks(Ways):
    """Goes through all stages, with the nodes of the proof at which executions can be."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.vertices: list[Vertex] = []
        self.all: list[Walk] = []
        self._moves: dict[tuple[Elements, int, int, int | None], Move | None] = {}
        self._hints: dict[Elements, int] = {}
        self._by_stage: dict[int, list[Vertex]] = {}

    def check(self) -> None:
        """Find an order of the events of each stage that the proof permits, wherever it can be."""
        start = self._settled(self._proof.uncovered(0), ())
        assert start is not None
        pending = [self._vertex(0, frozenset((start,)))]
        for vertex in pending:  # which grows meanwhile
            options = self._stage(vertex.stage).options
            if not options:
                self._over(vertex)
            for option in options:
                walk = self._follow(vertex, option)
                if self._context.found:
                    return
                if walk is None:
                    continue
                known = len(self.vertices)
                elements = walk.events[-1].move.after if walk.events else vertex.elements
                if not elements:
                    if self._stage(option.section).options:
                        self._say(f"section {option.section}: something follows it, but the program has ended")
                    continue
                walk.target = self._vertex(option.section, elements)
                walk.target.before.append(walk)
                if len(self.vertices) > known:
                    pending.append(walk.target)

    def _vertex(self, stage: int, elements: Elements) -> Vertex:
        """The end of a stage at one of these nodes. What holds for more nodes holds for fewer."""
        others = self._by_stage.setdefault(stage, [])
        for vertex in others:
            if elements <= vertex.elements:
                return vertex
        if len(others) >= _MOST_SETS:
            elements = elements.union(*(vertex.elements for vertex in others))
        vertex = Vertex(len(self.vertices), stage, elements)
        others.append(vertex)
        self.vertices.append(vertex)
        return vertex

    def _has_exited(self, element: Element) -> bool:
        return any(location.rest == "exit" for location in self._nodes[element[0]].locations)

    def _move(self, elements: Elements, thread: int, point: int, arrival: int | None) -> Move | None:
        """An event of a thread at a point, at all of the nodes; if it is known, the thread arrives at `arrival` then.
        None: the proof does not permit it everywhere."""
        key = (elements, thread, point, arrival)
        if key not in self._moves:
            self._moves[key] = self._make_move(elements, thread, point, arrival)
        return self._moves[key]

    def _make_move(self, elements: Elements, thread: int, point: int, arrival: int | None) -> Move | None:
        steps: list[tuple[int, Transition]] = []
        after: set[Element] = set()
        passed: set[int] = set()
        moved = -1
        exited: set[Element] = set()
        for element in elements:
            way = self._way(element, thread, point)
            if way is None:
                return None
            passed |= way.passed
            moved &= way.moved
            pending, inside = list(way.reached), set(way.reached)
            while pending:
                current = pending.pop()
                for transition, following in self._successors(current, thread):
                    steps.append((current[0], transition))
                    target = self.location(following, thread)
                    if self._has_exited(following):
                        if arrival in (None, self._nowhere):
                            exited.add(following)
                        self._may_exit(following, thread)
                    elif target in self._native.inner and thread in self._nodes[following[0]].threads:
                        if following not in inside:
                            inside.add(following)
                            pending.append(following)  # of the same call, and at once
                    else:
                        after.add(following)
        if arrival is not None:
            known = {each for each in after if arrival in self.arriving(each, thread)}
            settled = [self._settled(each[0], (*each[1], (thread, arrival))) for each in known]
            after = {each for each in settled if each is not None}
        steps = list(dict.fromkeys(steps))
        move = Move(thread, tuple(steps), frozenset(after), frozenset(passed), moved | 1 << thread)
        move.exited = frozenset(exited)
        if steps:
            self._describe(move)
        return move

    def _may_exit(self, element: Element, thread: int) -> None:
        """That no thread that goes on unseen can come to what the proof does not look at, since the program ends."""
        for location in self._nodes[element[0]].locations:
            if (
                location.thread != thread
                and self._native.shown(location) is None
                and self._native.ahead(location).fails
            ):
                self._say(
                    f"{self._native.place(location)} can go on without the scheduler while {self._name(thread)} ends "
                    "the program; end the other thread before that"
                )

    def _describe(self, move: Move) -> None:
        """What an event does."""
        words: set[tuple[StateVariable, int | None]] = set()
        values: set[int | None] = set()
        kinds: set[tuple[bool, bool]] = set()
        single = True
        for number, transition in move.steps:
            for access in transition.accesses:
                word = (access.variable, self._index(number, access))
                move.touched[word] = move.touched.get(word, False) or access.writes
            own = words_of(transition)
            single = single and len(own) == 1
            for access in own:
                words.add((access.variable, self._index(number, access)))
                values.add(self._value(number, access))
                kinds.add((access.reads, access.writes))
            move.goes_on |= len(own) > 1 and not self._native.is_call(transition.source)
            move.prints |= self._native.prints(transition)
            move.ends |= transition.target.rest in ("end", "return")
        if single and len(words) == 1 and kinds in ({(True, False)}, {(False, True)}):
            (word,) = words
            if not word[0].is_array or word[1] is not None:
                move.word = word
                move.writes = kinds == {(False, True)}
                move.value = values.pop() if len(values) == 1 else None

    def _follow(self, vertex: Vertex, option: TableOption) -> Walk | None:
        """The stage of an option, if executions can go there."""
        stage = self._stage(vertex.stage)
        decides = len(stage.options) > 1 and not option.sure
        if len(stage.options) > 1:
            move = self._move(vertex.elements, option.thread, option.begin, None)
            if move is None:
                self._say_stuck(vertex, option)
                return None
            if decides:
                self._all_arrivals(vertex, option, move)
        first: TableStep | None = None
        if decides:
            earliest = next(other for other in stage.options if other.thread == option.thread)
            first = self._stage(earliest.section).lanes[option.thread][0]
        walk = Walk(vertex, option.section, option, [], decides)
        if not self._order(walk, first):
            return None
        self.all.append(walk)
        vertex.after.append(walk)
        return walk

    def _say_stuck(self, vertex: Vertex, option: TableOption) -> None:
        self._say(
            f"{self._native.at(option.thread, option.begin)} may go first after section {vertex.stage}, but in the "
            f"schedule it may not{self._because()}"
        )

    def _because(self) -> str:
        return "".join(f"; {note}" for note in list(self._notes)[:3])

    def _all_arrivals(self, vertex: Vertex, option: TableOption, move: Move) -> None:
        """That wherever the thread can arrive after it decides, there is an option, and that it does arrive."""
        own = {other.arrival for other in self._stage(vertex.stage).options if other.thread == option.thread}
        where = self._native.at(option.thread, option.begin)
        for element in move.after:
            for point in self.arriving(element, option.thread) - own:
                there = self._native.at(option.thread, point)
                self._say(f"{where} can go on to {there} after section {vertex.stage}, for which there is no section")
            if self._native.ahead(self.location(element, option.thread)).endless:
                self._say(
                    f"{where} decides how all go on after section {vertex.stage}, but may go round a loop for ever "
                    "before it is seen again; let the loop have an end, or do something in it that others can see"
                )

    def _order(self, walk: Walk, first: TableStep | None) -> bool:
        """Find an order of the stage's events. `first` is the step that decides, as the runtime takes it."""
        stage = self._stage(walk.stage)
        trail = self._tried(walk, first)
        if trail is None:
            return False
        clocks = [0] * self._tables.threads
        for move in trail:
            thread = move.thread
            step = stage.lanes[thread][clocks[thread]]
            clocks[thread] += 1
            flags = step.flags
            if first is not None and not walk.events:
                step = first
                flags = first.flags & (self._omit | self._continues) | self._publish | self._late
            walk.events.append(WalkEvent(thread, clocks[thread], move, step, flags))
            walk.by_clock[thread, clocks[thread]] = flags
            walk.moved |= move.moved
        for move in set(trail):
            walk.passed |= move.passed
        return True

    def _tried(self, walk: Walk, first: TableStep | None) -> list[Move] | None:
        """An order of the stage's events, found by trying; None if there is none, or nothing goes there."""
        stage = self._stage(walk.stage)
        option = walk.option
        elements = walk.source.elements
        done = [0] * self._tables.threads
        left = sum(stage.events)
        trail: list[tuple[Move, Elements]] = []
        choices: list[tuple[int, list[int]]] = []  # where there were others to go first
        failed: set[tuple[tuple[int, ...], Elements]] = set()
        best = (-1, list(done), elements)
        attempts = 0
        while left:
            move = None
            candidates: list[int] = []
            if first is not None and not trail:
                if all(clock <= 0 for _, clock in first.waits):
                    move = self._move(elements, option.thread, option.begin, option.arrival)
                    if move is not None and not move.after and not move.exited:
                        return None  # nothing arrives there
            elif (tuple(done), elements) not in failed:
                likely = self._hints.get(elements) if trail else option.thread
                candidates = self._candidates(stage, done, likely)
                while candidates and move is None:
                    thread = candidates.pop()
                    move = self._move(elements, thread, stage.lanes[thread][done[thread]].point, None)
            if move is None:
                if len(trail) > best[0]:
                    best = (len(trail), list(done), elements)
                attempts += 1
                failed.add((tuple(done), elements))
                while choices and not choices[-1][1]:
                    choices.pop()
                if not choices or attempts > _MOST_ATTEMPTS:
                    self._say_no_order(walk, stage, best[1], best[2])
                    return None
                place, others = choices[-1]
                while len(trail) > place:
                    undone, elements = trail.pop()
                    done[undone.thread] -= 1
                    left += 1
                thread = others.pop()
                move = self._move(elements, thread, stage.lanes[thread][done[thread]].point, None)
                if move is None:
                    continue
            elif candidates:
                choices.append((len(trail), candidates))
            self._hints[elements] = move.thread
            trail.append((move, elements))
            done[move.thread] += 1
            left -= 1
            elements = move.after
            if not elements and left:
                self._say(f"section {walk.stage} goes on after the program has ended")
                return None
        return [move for move, _ in trail]

    def _candidates(self, stage: Stage, done: Sequence[int], likely: int | None) -> list[int]:
        """The threads whose next event need not wait for others; the last of them is tried first. Where the proof
        leaves a choice, what follows depends on it: the thread of the option is the one that begins."""
        found = [
            thread
            for thread, lane in enumerate(stage.lanes)
            if done[thread] < len(lane) and all(done[other] >= clock for other, clock in lane[done[thread]].waits)
        ]
        found.sort(key=lambda thread: (thread == likely, -thread))
        return found

    def _say_no_order(self, walk: Walk, stage: Stage, done: Sequence[int], elements: Elements) -> None:
        waiting = " and ".join(
            self._native.at(thread, lane[done[thread]].point)
            for thread, lane in enumerate(stage.lanes)
            if done[thread] < len(lane)
        )
        turns = " or ".join(self._turns(elements))
        self._say(
            f"section {walk.stage} goes on with {waiting}, but in the schedule "
            + (f"it can be the turn of {turns}" if turns else "nobody can go on")
            + self._because()
        )

    def _turns(self, elements: Iterable[Element]) -> list[str]:
        """The threads that have events next, in words."""
        unseen = reached(elements, lambda each: (after for _, afters in self._unseen_steps(each) for after in afters))
        nodes = [self._nodes[number] for number, _ in unseen]
        found = {node.locations[thread] for node in nodes for thread in node.threads}
        return sorted({self._native.place(location) for location in found if self._native.is_seen(location)})

    def _over(self, vertex: Vertex) -> None:
        """That nothing is left to do after a stage that nothing follows, but what the scheduler does not see."""
        going_on: dict[Element, list[list[Element]]] = {}
        pending = list(vertex.elements)
        while pending:
            element = pending.pop()
            if element not in going_on and self._nodes[element[0]].edges:
                going_on[element] = [afters for _, afters in self._unseen_steps(element)]
                pending += [after for afters in going_on[element] for after in afters]
        bad: set[Element] = set()
        while more := {
            element
            for element, ways in going_on.items()
            if element not in bad and not any(bad.isdisjoint(afters) for afters in ways)
        }:
            bad |= more
        if bad & vertex.elements:
            turns = " or ".join(self._turns(bad & vertex.elements))
            self._say(f"nothing follows section {vertex.stage}, but it can be the turn of {turns}{self._because()}")
        for number, _ in going_on:
            for thread, location in enumerate(self._nodes[number].locations):
                if self._native.is_seen(location) and self._can_go_on(number, thread):
                    self._say(f"nothing follows section {vertex.stage}, but {self._native.place(location)} can go on")
