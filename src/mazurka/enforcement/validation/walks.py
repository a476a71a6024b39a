"""Some order of the events of each stage that the proof permits, wherever it can be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mazurka.enforcement.validation.context import Context, Part
from mazurka.enforcement.validation.places import is_plain, is_sure_to_end, words_of
from mazurka.enforcement.validation.reading import Option, Stage, Step
from mazurka.engines.abstract.model import Access, Location, Transition, Variable
from mazurka.engines.abstract.proof import Node
from mazurka.engines.abstract.terms import select, substitute
from mazurka.schedules.checker import on_cycles

# How much is tried before a stage counts as one whose events have no order that follows the proof, ...
_MOST_ATTEMPTS = 5000
# ... how many steps of its own a thread may take in a row without being seen, ...
_LARGEST_REGION = 20_000
# ... and with how many sets of nodes a stage is looked at before they are united.
_MOST_SETS = 16

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


@dataclass(eq=False, slots=True)
class Move:
    """An event of a thread at all nodes of a set. `steps` are its transitions, with their nodes."""

    thread: int
    steps: tuple[tuple[int, Transition], ...]
    after: Elements
    passed: frozenset[int]
    moved: int
    # What it does, natively and in the model.
    touched: dict[tuple[Variable, int | None], bool] = field(default_factory=dict)  # and whether it writes
    word: tuple[Variable, int | None] | None = None  # if it loads or stores a single one ...
    value: int | None = None  # ... and what it loads, if that is always the same
    writes: bool = False
    prints: bool = False
    goes_on: bool = False  # after its instruction
    exits: bool = False
    ends: bool = False

    @property
    def location(self) -> Location:
        return self.steps[0][1].source


@dataclass(slots=True)
class Event:
    """An event of a walk: of `thread`, whose clock it brings to `clock`; `flags` are those that count."""

    thread: int
    clock: int
    move: Move
    step: Step
    flags: int


@dataclass(eq=False, slots=True)
class Walk:
    """A stage, from the end of another one: its events, in an order of the proof. `decides`: the first of them is over,
    for everybody, when the stage begins. `passed` are the nodes on the way, `moved` the threads that certainly move."""

    source: Vertex
    stage: int
    option: Option
    events: list[Event]
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


class Walks(Part):
    """Goes through all stages, with the nodes of the proof at which executions can be."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.vertices: list[Vertex] = []
        self.all: list[Walk] = []
        self.left_out_unseen: dict[Transition, None] = {}
        self._ways: dict[tuple[Element, int, int], Way | None] = {}
        self._moves: dict[tuple[Elements, int, int, int | None], Move | None] = {}
        self._hints: dict[Elements, int] = {}
        self._notes: dict[str, None] = {}  # why something cannot go on, perhaps
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

    def _has_exited(self, element: Element) -> bool:
        return any(location.rest == "exit" for location in self._nodes[element[0]].locations)

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
        if transition.target.rest in ("exit", "end"):
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

    def _index(self, number: int, access: Access) -> int | None:
        """The element of an array that is accessed at a node, if it is always the same."""
        if access.index is None:
            return None
        index = substitute(access.index, self._facts_at(number).known)
        return index.value if index.is_constant else None

    def _value(self, number: int, access: Access) -> int | None:
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
        moved = dict.fromkeys(goals, 0)  # of those that surely come to a goal
        chosen: dict[Element, list[Element]] = {}
        users: dict[Element, list[Element]] = {}
        for element, steps in choices.items():
            for _, afters in steps:
                for after in afters:
                    users.setdefault(after, []).append(element)
        work, later = list(choices), list(choices)  # loops are looked at when nothing else is left
        while work or later:
            is_loop = not work
            element = (work or later).pop()
            for other, afters in choices.get(element, ()) if element not in moved else ():
                find = _after_a_loop if is_loop else _at_once
                together = find(element, other, afters, moved, choices, self._nodes)
                if together is not None:
                    for each, its_afters, bits in together:
                        moved[each] = bits
                        chosen[each] = its_afters
                        work += users.get(each, ())
                    later = list(choices) if is_loop else later
                    break
        if start not in moved:
            return None
        passed, reached = {start}, set()
        pending = [start]
        while pending:
            element = pending.pop()
            if element in goals:
                reached.add(element)
                continue
            for after in chosen[element]:
                if after not in passed:
                    passed.add(after)
                    pending.append(after)
        return Way(frozenset(reached), frozenset(number for number, _ in passed), moved[start])

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
        exits = False
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
                        exits = arrival in (None, self._nowhere)
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
        move = Move(thread, tuple(steps), frozenset(after), frozenset(passed), moved | 1 << thread, exits=exits)
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
        words: set[tuple[Variable, int | None]] = set()
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
            move.ends |= transition.target.rest == "end"
        if single and len(words) == 1 and kinds in ({(True, False)}, {(False, True)}):
            (word,) = words
            if not word[0].is_array or word[1] is not None:
                move.word = word
                move.writes = kinds == {(False, True)}
                move.value = values.pop() if len(values) == 1 else None

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

    def _follow(self, vertex: Vertex, option: Option) -> Walk | None:
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
        first: Step | None = None
        if decides:
            earliest = next(other for other in stage.options if other.thread == option.thread)
            first = self._stage(earliest.section).lanes[option.thread][0]
        walk = Walk(vertex, option.section, option, [], decides)
        if not self._order(walk, first):
            return None
        self.all.append(walk)
        vertex.after.append(walk)
        return walk

    def _say_stuck(self, vertex: Vertex, option: Option) -> None:
        self._say(
            f"{self._native.at(option.thread, option.begin)} may go first after section {vertex.stage}, but in the "
            f"schedule it may not{self._because()}"
        )

    def _because(self) -> str:
        return "".join(f"; {note}" for note in list(self._notes)[:3])

    def _all_arrivals(self, vertex: Vertex, option: Option, move: Move) -> None:
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

    def _order(self, walk: Walk, first: Step | None) -> bool:
        """Find an order of the stage's events, by trying. `first` is the step that decides, as the runtime takes it."""
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
                    if move is not None and not move.after and not move.exits:
                        return False  # nothing arrives there
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
                    return False
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
                return False
        clocks = [0] * self._tables.threads
        for move, _ in trail:
            thread = move.thread
            step = stage.lanes[thread][clocks[thread]]
            clocks[thread] += 1
            flags = step.flags
            if first is not None and not walk.events:
                step = first
                flags = first.flags & (self._omit | self._continues) | self._publish | self._late
            walk.events.append(Event(thread, clocks[thread], move, step, flags))
            walk.by_clock[thread, clocks[thread]] = flags
            walk.moved |= move.moved
        for move in {move for move, _ in trail}:
            walk.passed |= move.passed
        return True

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
        found: dict[str, None] = {}
        pending = sorted(elements)
        passed = set(pending)
        while pending:
            element = pending.pop()
            node = self._nodes[element[0]]
            for thread in node.threads:
                if self._native.is_seen(node.locations[thread]):
                    found[self._native.place(node.locations[thread])] = None
            new = {after for _, afters in self._unseen_steps(element) for after in afters} - passed
            passed |= new
            pending += sorted(new)
        return sorted(found)

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


_Surely = list[tuple[Element, list[Element], int]]
_Choices = Mapping[Element, list[tuple[int, list[Element]]]]


def _at_once(
    element: Element,
    thread: int,
    afters: list[Element],
    moved: Mapping[Element, int],
    choices: _Choices,
    nodes: Sequence[Node],
) -> _Surely | None:
    """Whether an unseen step of a thread surely leads to where it is known how to go on. Gives the elements for which
    that is so, with where they lead to and the threads that move."""
    if not all(after in moved for after in afters):
        return None
    bits = -1
    for after in afters:
        bits &= moved[after]
    return [(element, afters, bits | 1 << thread)]


def _after_a_loop(
    element: Element,
    thread: int,
    afters: list[Element],
    moved: Mapping[Element, int],
    choices: _Choices,
    nodes: Sequence[Node],
) -> _Surely | None:
    """The same for several unseen steps of a thread, which may go round loops that are known to end."""
    inside: dict[Element, list[Element]] = {}
    pending = [(element, afters)]
    while pending:
        current, targets = pending.pop()
        if current in inside:
            continue
        inside[current] = targets
        for after in targets:
            if after not in moved:
                own = next((its for other, its in choices.get(after, ()) if other == thread), None)
                if own is None:
                    return None
                pending.append((after, own))
    order = {each: position for position, each in enumerate(inside)}
    rounds = on_cycles(
        [
            [] if is_sure_to_end(nodes[each[0]].locations[thread]) else [order[to] for to in targets if to in order]
            for each, targets in inside.items()
        ]
    )
    leaves = any(after in moved for targets in inside.values() for after in targets)
    if rounds or not leaves:
        return None
    return [(each, targets, 1 << thread) for each, targets in inside.items()]
