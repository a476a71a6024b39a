"""Tables of built programs, made in the plainest way, and all that a program that follows them can do.

Events of a stage wait for everything before them, so these tables are right; tests change them. `misbehaviour` plays
the runtime on a model with concrete values, in all orders that the tables permit.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mazurka.constrained.model import (
    FailureCause,
    Input,
    Location,
    Model,
    Point,
    SharedAccess,
    StateVariable,
    Transition,
)
from mazurka.constrained.model.terms import TRUE, Term, compare, constant, evaluate, variable
from mazurka.constrained.proof import Edge, Proof, ProofNode
from mazurka.program.instructions import Location as SourceLocation
from tests.support.abstract_models import Threads

NOWHERE, RETURN = 0, 1
PUBLISH, REDIRECT, LATE, SETTLE, OMIT, CONTINUES = 1, 2, 4, 8, 16, 32
FILE = "m.c"

Values = tuple[int, ...]
State = tuple[tuple[Location, ...], Values]


class Scene(Threads):
    """A model of threads that all exist from the start. `step` adds a transition; the line of a location in the text is
    its number, a thousand for each thread. A location at which its thread ends is the end of its function."""

    def word(self, name: str, initial: int = 0) -> StateVariable:
        made = StateVariable(variable(name, 8), initial, display=name, address=64 * (len(self.model.variables) + 1))
        self.model.variables[name] = made
        return made

    def register(self, thread: int, name: str) -> StateVariable:
        made = StateVariable(variable(name, 8), 0, thread, display=name)
        self.model.variables[name] = made
        return made

    def step(
        self,
        thread: int,
        source: int,
        target: int,
        *,
        when: Term = TRUE,
        sets: Mapping[StateVariable, Term] | None = None,
        reads: Sequence[StateVariable] = (),
        inputs: Sequence[Input] = (),
        failure: str | None = None,
        operation: str | None = None,
        prints: bool = False,
        rest: str | None = None,
    ) -> Transition:
        writes = [each for each in sets or {} if each.thread is None]
        accesses = [
            SharedAccess(each, None, each in reads, each in writes) for each in dict.fromkeys([*reads, *writes])
        ]
        bad = FailureCause("assertion", failure, None) if failure else None
        made = self.add(thread, source, target, when, sets, inputs, accesses, failure=bad)
        made.prints = prints
        if failure or rest:
            made.target.rest = "failed" if failure else rest  # type: ignore[assignment]
            made.target.enabled = constant(0, 1)
        is_end = rest == "end"
        at = SourceLocation(FILE, 1000 * thread + source, 1)
        made.source.point = Point(
            "does", at, "f", (), (), None if is_end else (FILE, 1000 * thread + source), 0, operation
        )
        return made


def number(value: int) -> Term:
    return constant(value, 8)


def equal(left: StateVariable, value: int) -> Term:
    return compare("eq", left.term, number(value))


# ------------------------------------------------------------------------------------------------------ executions


def initial(model: Model) -> State:
    values = tuple(each.initial if isinstance(each.initial, int) else 0 for each in model.variables.values())
    return model.initial_locations, values


def outcomes(
    model: Model, location: Location, values: Mapping[Term, int]
) -> Iterator[tuple[Transition, dict[StateVariable, int]]]:
    """What a thread can do where variables have these values, and what it assigns."""
    for transition in location.transitions:
        for inputs in itertools.product(*(range(evaluate(each.count, values)) for each in transition.inputs)):
            known = {**values, **{each.term: value for each, value in zip(transition.inputs, inputs, strict=True)}}
            if evaluate(transition.condition, known):
                yield transition, {each: evaluate(term, known) for each, term in transition.assigns.items()}


def as_values(model: Model, values: Values) -> dict[Term, int]:
    return {each.term: value for each, value in zip(model.variables.values(), values, strict=True)}


def assigned(model: Model, values: Values, changes: Mapping[StateVariable, int]) -> Values:
    return tuple(changes.get(each, value) for each, value in zip(model.variables.values(), values, strict=True))


Policy = Callable[[State, object], tuple[Sequence[int], Callable[[Transition], object]]]


def prove(model: Model, policy: Policy, turn: object) -> Proof:
    """A proof with a node for each state that is reached. The policy says, of a state and whose turn it is, the threads
    that may run, and whose turn it is after one of them has."""
    nodes: list[ProofNode] = []
    made: dict[tuple[State, object], int] = {}
    pending = [(initial(model), turn)]
    made[pending[0]] = 0
    for state, current in pending:  # which grows meanwhile
        locations, values = state
        known = as_values(model, values)
        label = tuple(compare("eq", term, constant(value, 8)) for term, value in known.items())
        edges: dict[Transition, int] = {}
        running, after = policy(state, current)
        if not any(location.rest == "exit" for location in locations):
            for thread in running:
                for transition, changes in outcomes(model, locations[thread], known):
                    assert transition.failure is None
                    moved = tuple(transition.target if at.thread == thread else at for at in locations)
                    key = ((moved, assigned(model, values, changes)), after(transition))
                    if key not in made:
                        made[key] = len(pending)
                        pending.append(key)
                    assert edges.setdefault(transition, made[key]) == made[key]
        nodes.append(ProofNode(len(nodes), locations, (), label, tuple(Edge(*edge) for edge in edges.items())))
    return Proof(model, tuple(nodes))


def alternating(model: Model, rounds: Sequence[tuple[int, int]]) -> Policy:
    """Threads take turns, each until it comes to a location of this number; who cannot run is passed over."""
    stops = dict(rounds)

    def policy(state: State, turn: object) -> tuple[Sequence[int], Callable[[Transition], object]]:
        assert isinstance(turn, int)
        known = as_values(model, state[1])
        able = [
            thread
            for thread in ((turn + offset) % len(stops) for offset in range(len(stops)))
            if state[0][thread].rest is None and evaluate(state[0][thread].enabled, known)
        ]
        if not able:
            return (), lambda transition: turn

        def after(transition: Transition) -> object:
            over = transition.target.number == stops[able[0]] or transition.target.rest is not None
            return (able[0] + 1) % len(stops) if over else able[0]

        return able[:1], after

    return policy


# ---------------------------------------------------------------------------------------------------------- tables


@dataclass
class Step:
    point: int
    flags: int = PUBLISH
    waits: list[tuple[int, int]] = field(default_factory=list)
    redirect: int = 0
    clock: int = 0


@dataclass
class Option:
    thread: int
    begin: int
    arrival: int
    section: int
    sure: bool


@dataclass
class Stage:
    lanes: list[list[Step]]
    previous: list[int]
    standing: list[int]
    options: list[Option] = field(default_factory=list)

    @property
    def events(self) -> list[int]:
        return [len(lane) for lane in self.lanes]


@dataclass
class Tables:
    model: Model
    points: dict[Location, int]
    stages: list[Stage]
    constants: list[int] = field(default_factory=list)
    area: int = 0

    def text(self) -> str:
        steps = ["{NOWHERE}"]  # there is one before any other
        waits: list[str] = []
        options: list[str] = []
        numbers: list[str] = []
        sections: list[str] = []

        def row(values: Sequence[int]) -> str:
            numbers.extend(map(str, values))
            return f"numbers + {len(numbers) - len(values)}"

        for stage in self.stages:
            starts = []
            for lane in stage.lanes:
                starts.append(len(steps))
                for step in lane:
                    row_of = (step.point, step.flags, len(step.waits), len(waits), step.redirect, step.clock)
                    steps.append(f"{{{', '.join(map(str, row_of))}}}")
                    waits.extend(f"{{{thread}, {clock}}}" for thread, clock in step.waits)
                steps.append("{NOWHERE}")
            rows = [row(values) for values in (stage.events, stage.previous, starts, stage.standing)]
            sections.append(f"{{{len(options)}, {len(stage.options)}, {', '.join(rows)}}}")
            options += [f"{{{o.thread}, {o.begin}, {o.arrival}, {o.section}, {int(o.sure)}}}" for o in stage.options]
        count = max(self.points.values())
        everybody = (1 << len(self.model.threads)) - 1
        tables = {
            "static const uint32_t numbers": numbers,
            "const struct child mazurka_child": [],
            "const struct point mazurka_point": [f'{{"?", "?", {everybody}u, 1}}'] * count,
            "const struct step mazurka_step": steps,
            "const struct wait mazurka_wait": waits,
            "const struct option mazurka_option": options,
            "const struct section mazurka_section": sections,
            "const uint64_t mazurka_constant": [f"{value}u" for value in self.constants],
        }
        sizes = {
            "threads": len(self.model.threads), "sections": len(self.stages), "children": 0,
            "area_size": self.area, "constants": len(self.constants),
        }  # fmt: skip
        return "\n".join(
            [
                '#include "schedule.h"',
                *(f"const uint32_t mazurka_{name} = {size};" for name, size in sizes.items()),
                *(f"{name}[] = {{\n    " + ",\n    ".join(rows or ["0"]) + "};" for name, rows in tables.items()),
            ]
        )


def make_points(model: Model, first: int) -> dict[Location, int]:
    points: dict[Location, int] = {}
    for thread in model.threads:
        for location in thread.locations:
            if location.point is not None:
                points[location] = RETURN if location.point.line is None else first
                first += location.point.line is not None
    return points


def make_tables(proof: Proof, points: Mapping[Location, int], longest: int = 1, *, repeat: int = 1) -> Tables:
    """Stages of up to so many events, each of which waits for all events before it. repeat: a cycle without branches is
    followed so often in one stage."""
    model = proof.model
    threads = len(model.threads)
    stages = [Stage([[] for _ in range(threads)], [0] * threads, standing(proof.nodes[0], points))]
    made: dict[tuple[int, int, tuple[Transition, ...]], int] = {}
    ends = [0]
    for place, end in enumerate(ends):  # which grows meanwhile
        node, before = proof.nodes[end], stages[place]
        for thread in node.threads:
            ways = list(_ways(proof, points, end, thread))
            for beginning, after in ways:
                path, following = _path(proof, points, beginning, after, longest * repeat)
                key = (place, end, tuple(beginning))
                if key not in made:
                    stage = _stage(model, points, path, before, proof.nodes[following])
                    made[key] = _same(stages, ends, stage, following)
                begin = points[beginning[0].source]
                arrival = points.get(beginning[-1].target, NOWHERE)
                before.options.append(Option(thread, begin, arrival, made[key], len(ways) == 1))
    return Tables(model, dict(points), stages)


def _same(stages: list[Stage], ends: list[int], stage: Stage, end: int) -> int:
    """The number of a stage: that of one that is the same, if there is one."""
    for number, (other, its_end) in enumerate(zip(stages, ends, strict=True)):
        if number and its_end == end and (other.lanes, other.previous) == (stage.lanes, stage.previous):
            return number
    stages.append(stage)
    ends.append(end)
    return len(stages) - 1


def _ways(
    proof: Proof, points: Mapping[Location, int], start: int, thread: int
) -> Iterator[tuple[list[Transition], int]]:
    """An event of a thread, and its unseen steps after it, which must follow at once."""
    pending: list[tuple[list[Transition], int]] = [([], start)]
    while pending:
        path, current = pending.pop()
        location = proof.nodes[current].locations[thread]
        if path and (location in points or location.rest is not None):
            yield path, current
        else:
            own = [edge for edge in proof.nodes[current].edges if edge.transition.thread == thread]
            assert own
            pending += [([*path, edge.transition], edge.target) for edge in reversed(own)]


def _path(
    proof: Proof, points: Mapping[Location, int], path: list[Transition], current: int, longest: int
) -> tuple[list[Transition], int]:
    path = list(path)
    while len(path) < longest and len(proof.nodes[current].edges) == 1:
        (only,) = proof.nodes[current].edges
        ways = list(_ways(proof, points, current, only.transition.thread))
        if len(ways) > 1:
            break
        path += ways[0][0]
        current = ways[0][1]
    return path, current


def _stage(
    model: Model, points: Mapping[Location, int], path: Sequence[Transition], before: Stage, end: ProofNode
) -> Stage:
    threads = len(model.threads)
    lanes: list[list[Step]] = [[] for _ in range(threads)]
    for transition in [each for each in path if each.source in points]:
        thread = transition.thread
        waits = [
            (other, len(lanes[other]))
            for other in range(threads)
            if other != thread and (lanes[other] or before.lanes[other])
        ]
        was_late = bool(lanes[thread]) and lanes[thread][-1].flags & LATE
        flags = PUBLISH | (LATE if transition.prints else 0) | (SETTLE if was_late else 0)
        lanes[thread].append(Step(points[transition.source], flags, waits, 0, len(lanes[thread]) + 1))
    return Stage(lanes, before.events, standing(end, points))


def standing(node: ProofNode, points: Mapping[Location, int]) -> list[int]:
    return [points.get(location, NOWHERE) for location in node.locations]


# ------------------------------------------------------------------------------------------------- the runtime, played


@dataclass(frozen=True)
class Runner:
    """A thread: the stage that it is in (as the how-manieth), how many events it has had there, whether it has arrived
    at where it is, whether it has decided how to go on and is on its way, and what it has not told yet."""

    round: int = 0
    done: int = 0
    arrived: bool = False
    decides: bool = False
    late: int = 0


@dataclass(frozen=True)
class Native:
    locations: tuple[Location, ...]
    values: Values
    areas: tuple[tuple[int, ...], tuple[int, ...]]
    clocks: tuple[int, ...]
    runners: tuple[Runner, ...]
    history: tuple[int, ...] = (0,)
    claimed: bool = False


class Misbehaves(Exception):
    pass


def misbehaviour(tables: Tables, most_states: int = 60_000) -> str | None:
    """What goes wrong in some native run that goes through all stages: a failure, a thread that leaves the schedule or
    that waits for ever, in the scheduler or in the library."""
    return _Player(tables, len(tables.stages) + 2).play(most_states)


class _Player:
    def __init__(self, tables: Tables, rounds: int) -> None:
        self.tables, self.rounds = tables, rounds
        self.model = tables.model
        self.threads = range(len(self.model.threads))
        self.bases: dict[tuple[int, ...], list[int]] = {}

    def play(self, most_states: int) -> str | None:
        locations, values = initial(self.model)
        area = tuple(self.tables.constants) + (0,) * (self.tables.area // 8 - len(self.tables.constants))
        count = len(self.model.threads)
        start = Native(locations, values, (area, area), (0,) * count, (Runner(),) * count)
        seen, pending = {start}, [start]
        while pending:
            state = pending.pop()
            try:
                following = [after for thread in range(count) for after in self.moves(state, thread)]
            except Misbehaves as error:
                return str(error)
            waiting = [t for t in range(count) if state.locations[t].rest is None and not self.rests(state, t)]
            is_over = any(location.rest == "exit" for location in state.locations)
            is_far = any(runner.round >= self.rounds for runner in state.runners)
            if not following and waiting and not is_over and not is_far:
                return f"threads {waiting} wait for ever"
            for after in following:
                if after not in seen:
                    seen.add(after)
                    pending.append(after)
            if len(seen) > most_states:
                return None
        return None

    def stage(self, state: Native, thread: int) -> Stage:
        return self.tables.stages[state.history[state.runners[thread].round]]

    def base(self, state: Native, thread: int, round_: int) -> int:
        passed = state.history[:round_]
        if passed not in self.bases:
            self.bases[passed] = [sum(self.tables.stages[at].events[t] for at in passed) for t in self.threads]
        return self.bases[passed][thread]

    def rests(self, state: Native, thread: int) -> bool:
        """Whether a thread has no event any more, and is where it should be."""
        stage, runner = self.stage(state, thread), state.runners[thread]
        return runner.arrived and not runner.decides and runner.done == len(stage.lanes[thread]) and not stage.options

    def moves(self, state: Native, thread: int) -> Iterator[Native]:
        location, runner = state.locations[thread], state.runners[thread]
        if location.rest is not None or any(at.rest == "exit" for at in state.locations) or runner.round >= self.rounds:
            return
        point = self.tables.points.get(location)
        if point is None:
            yield from self.execute(state, thread, None)
        elif not runner.arrived:
            yield self.arrive(state, thread, point)
        else:
            yield from self.go_on(state, thread, point)

    def arrive(self, state: Native, thread: int, point: int) -> Native:
        runner = state.runners[thread]
        if runner.late:
            state = self.told(state, thread, runner.late)
        if runner.decides:
            options = self.stage(state, thread).options
            option = next((o for o in options if o.thread == thread and o.arrival == point), None)
            if option is None:
                raise Misbehaves(f"thread {thread} decides for nothing")
            history = (*state.history, option.section)
            clock = self.base(state, thread, runner.round + 1) + 1
            state = self.told(replaced(state, history=history, claimed=False), thread, clock)
            return self.with_runner(state, thread, Runner(runner.round + 1, 1, True))
        return self.with_runner(state, thread, Runner(runner.round, runner.done, True))

    def go_on(self, state: Native, thread: int, point: int) -> Iterator[Native]:
        stage, runner = self.stage(state, thread), state.runners[thread]
        if runner.done < len(stage.lanes[thread]):
            step = stage.lanes[thread][runner.done]
            if step.point != point:
                raise Misbehaves(f"thread {thread} is at {point}, but its next event is at {step.point}")
            if (runner.done or self.others_over(state, thread, runner.round)) and self.ready(state, thread, step):
                yield from self.execute(state, thread, step)
            return
        if not stage.options:
            if stage.standing[thread] != point:
                raise Misbehaves(f"thread {thread} has no event at {point}")
            return
        next_one = Runner(runner.round + 1, 0, True)
        if len(state.history) > runner.round + 1:
            yield self.with_runner(state, thread, next_one)
        elif len(stage.options) == 1:
            yield self.with_runner(
                replaced(state, history=(*state.history, stage.options[0].section)), thread, next_one
            )
        else:
            option = next((o for o in stage.options if o.thread == thread and o.begin == point), None)
            if option is None or state.claimed:
                if stage.standing[thread] not in (NOWHERE, point):
                    raise Misbehaves(f"thread {thread} is not where it should stand")
                return
            if option.sure:
                yield self.with_runner(replaced(state, history=(*state.history, option.section)), thread, next_one)
                return
            claimed = replaced(state, claimed=True)
            if not self.tables.stages[option.section].lanes[thread]:
                raise Misbehaves(f"thread {thread} decides by no event")
            step = self.tables.stages[option.section].lanes[thread][0]
            if self.others_over(state, thread, runner.round + 1) and self.ready(state, thread, step, 1):
                deciding = Step(step.point, step.flags & (OMIT | CONTINUES), step.waits, 0, 1)
                for after in self.execute(claimed, thread, deciding):
                    yield self.with_runner(after, thread, Runner(runner.round, runner.done, False, True))

    def others_over(self, state: Native, thread: int, round_: int) -> bool:
        """Whether all events before the stage before this one are over."""
        return all(
            state.clocks[other] >= self.base(state, other, round_ - 1)
            for other in range(len(state.clocks))
            if other != thread and round_ > 0
        )

    def ready(self, state: Native, thread: int, step: Step, ahead: int = 0) -> bool:
        return all(
            state.clocks[other] >= self.base(state, other, state.runners[thread].round + ahead) + clock
            for other, clock in step.waits
        )

    def execute(self, state: Native, thread: int, step: Step | None) -> Iterator[Native]:
        location, runner = state.locations[thread], state.runners[thread]
        known = as_values(self.model, state.values)
        flags = step.flags if step is not None else 0
        which = runner.round % 2
        shared = {access.variable for each in location.transitions for access in each.accesses}
        if flags & OMIT:
            known |= self.free(location)
        elif flags & REDIRECT and step is not None:
            known |= {each.term: state.areas[which][step.redirect // 8] for each in shared}
        for transition, changes in outcomes(self.model, location, known):
            if transition.failure is not None:
                raise Misbehaves(f"thread {thread} fails: {transition.failure.message}")
            areas = list(state.areas)
            if flags & (OMIT | REDIRECT):
                for each in [each for each in changes if each in shared]:
                    value = changes.pop(each)
                    if flags & REDIRECT and step is not None:
                        area = list(areas[which])
                        area[step.redirect // 8] = value
                        areas[which] = tuple(area)
            after = replaced(
                state,
                locations=tuple(transition.target if at.thread == thread else at for at in state.locations),
                values=assigned(self.model, state.values, changes),
                areas=(areas[0], areas[1]),
            )
            if step is None:
                yield after
                continue
            clock = self.base(state, thread, runner.round) + step.clock
            if flags & PUBLISH and not flags & LATE:
                after = self.told(after, thread, clock)
            yield self.with_runner(
                after, thread, Runner(runner.round, runner.done + 1, late=clock if flags & LATE else runner.late)
            )

    def free(self, location: Location) -> dict[Term, int]:
        """Values with which an operation that is left out does what it is for."""
        if location.point is None or location.point.operation is None:
            raise Misbehaves("an access is left out")
        words = {access.variable for each in location.transitions for access in each.accesses}
        for values in itertools.product((0, 1), repeat=len(words)):
            known = {each.term: value for each, value in zip(words, values, strict=True)}
            if evaluate(location.enabled, known) and any(
                each.failure is None and evaluate(each.condition, known) for each in location.transitions
            ):
                return known
        raise Misbehaves("what is left out is no operation that makes threads wait")

    def told(self, state: Native, thread: int, clock: int) -> Native:
        clocks = list(state.clocks)
        clocks[thread] = max(clocks[thread], clock)
        return self.with_runner(replaced(state, clocks=tuple(clocks)), thread, state.runners[thread])

    def with_runner(self, state: Native, thread: int, runner: Runner) -> Native:
        runners = list(state.runners)
        runners[thread] = runner
        return replaced(state, runners=tuple(runners))


def replaced(state: Native, **changes: object) -> Native:
    values = {name: getattr(state, name) for name in Native.__dataclass_fields__} | changes
    return Native(**values)
