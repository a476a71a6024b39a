"""Schedules: cut into sections that order only what must be, stored, and proved again whatever was done to them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mazurka.constrained.checker import check, check_proof
from mazurka.constrained.files import from_json, load, to_json
from mazurka.constrained.model import (
    FailureCause,
    Input,
    Location,
    Model,
    SharedAccess,
    StateVariable,
    Transition,
)
from mazurka.constrained.model.terms import (
    FALSE,
    INDEX_WIDTH,
    TRUE,
    Term,
    binary,
    compare,
    constant,
    convert,
    evaluate,
    evaluate_array,
    negation,
    select,
    store,
    variable,
)
from mazurka.constrained.picture import describe, to_dot, to_svg
from mazurka.constrained.plan import Event, ProgramSchedule, SectionSchedule, program_schedule, section_order
from mazurka.constrained.proof import Edge, Proof, ProofNode
from mazurka.errors import InputError
from mazurka.machine.layout import address_of
from tests.support.abstract_models import Threads

Values = Mapping[Term, int | Sequence[int]]


# --------------------------------------------------------------------------------------------- models made by hand


class Scene(Threads):
    def variable(
        self, name: str, width: int = 8, *, length: int | None = None, thread: int | None = None
    ) -> StateVariable:
        initial = 0 if length is None else (0,) * length
        made = StateVariable(variable(name, width, length), initial, thread, display=name)
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
        accesses: Sequence[SharedAccess] = (),
        inputs: Sequence[Input] = (),
        failure: str | None = None,
    ) -> Transition:
        bad = FailureCause("assertion", failure, None) if failure else None
        return self.add(thread, source, target, when, sets, inputs, accesses, failure=bad)


def read(of: StateVariable, index: Term | None = None) -> SharedAccess:
    return SharedAccess(of, index, reads=True, writes=False)


def write(of: StateVariable, index: Term | None = None) -> SharedAccess:
    return SharedAccess(of, index, reads=False, writes=True)


def update(of: StateVariable) -> SharedAccess:
    return SharedAccess(of, None, reads=True, writes=True)


def number(value: int, width: int = 8) -> Term:
    return constant(value, width)


def stack(*, first: int = 0) -> Model:
    """A producer and a consumer of items on a stack, with a lock. An item is 7; `first` lies there already."""
    maker = Scene("producer", "consumer")
    lock, count = maker.variable("lock"), maker.variable("count")
    items = maker.variable("items", length=4)
    items.initial = (first, 0, 0, 0)
    free = compare("eq", lock.term, number(0))
    top = convert("zext", count.term, INDEX_WIDTH)
    below = convert("zext", binary("sub", count.term, number(1)), INDEX_WIDTH)
    room, some = compare("ult", count.term, number(4)), compare("ult", number(0), count.term)
    for thread, possible in ((0, room), (1, some)):
        maker.place(thread, 0).enabled = free
        maker.step(thread, 0, 1, when=free, sets={lock: number(1)}, accesses=[update(lock)])
        maker.step(thread, 1, 2, when=possible, accesses=[read(count)])
        maker.step(thread, 1, 4, when=negation(possible), accesses=[read(count)])
        maker.step(thread, 4, 0, sets={lock: number(0)}, accesses=[write(lock)])
    maker.step(
        0, 2, 3, sets={items: store(items.term, top, number(7))}, accesses=[write(items, top), read(count)]
    )  # fmt: skip
    maker.step(0, 3, 4, sets={count: binary("add", count.term, number(1))}, accesses=[update(count)])
    good = compare("eq", select(items.term, below), number(7))
    taken = {count: binary("sub", count.term, number(1))}
    maker.step(1, 2, 3, when=good, accesses=[read(items, below), read(count)])
    maker.step(1, 2, 5, when=negation(good), accesses=[read(items, below), read(count)], failure="a bad item")
    maker.place(1, 5).rest = "failed"
    maker.step(1, 3, 4, sets=taken, accesses=[update(count)])
    return maker.model


# ------------------------------------------------------------------------------ executions of a model, one by one


@dataclass(frozen=True)
class State:
    locations: tuple[Location, ...]
    values: tuple[int | tuple[int, ...], ...]


def initial(model: Model) -> State:
    values = tuple(0 if each.initial is None else each.initial for each in model.variables.values())
    return State(model.initial_locations, values)


def valuation(model: Model, state: State) -> dict[Term, int | Sequence[int]]:
    return dict(zip((each.term for each in model.variables.values()), state.values, strict=True))


def can_run(model: Model, state: State, thread: int) -> bool:
    at = state.locations[thread]
    if any(location.rest == "exit" for location in state.locations):
        return False
    return at.rest is None and bool(evaluate(at.enabled, valuation(model, state)))


def moves(model: Model, state: State, thread: int) -> Iterator[tuple[Transition, State]]:
    """What a thread can do, for all inputs."""
    values = valuation(model, state)
    for transition in state.locations[thread].transitions:
        ranges = [range(evaluate(entry.count, values)) for entry in transition.inputs]
        for inputs in itertools.product(*ranges):
            known = values | {entry.term: value for entry, value in zip(transition.inputs, inputs, strict=True)}
            if evaluate(transition.condition, known):
                after = dict(values)
                for each, term in transition.assigns.items():
                    after[each.term] = tuple(evaluate_array(term, known)) if each.is_array else evaluate(term, known)
                locations = list(state.locations)
                locations[thread] = transition.target
                for started in transition.starts:
                    locations[started] = model.threads[started].entry
                yield transition, State(tuple(locations), tuple(after.values()))  # type: ignore[arg-type]


def round_robin(model: Model, *, turns: bool, limit: int = 200, offers: Random | None = None) -> Proof:
    """A proof with a node for each state that is reached when threads take turns: after a step, or only after they have
    gone round a loop or cannot run. Where it meets a state again, it is covered. With `offers`, some of the others may
    run as well."""
    nodes: list[ProofNode] = []
    made: dict[tuple[State, int], int] = {}

    def visit(state: State, current: int) -> int:
        values = valuation(model, state)
        label: list[Term] = []
        for term, value in values.items():
            if isinstance(value, int):
                label.append(compare("eq", term, constant(value, term.width)))
            else:
                label += [
                    compare("eq", select(term, constant(at, INDEX_WIDTH)), constant(element, term.width))
                    for at, element in enumerate(value)
                ]
        place = len(nodes)
        nodes.append(ProofNode(place, state.locations, (), tuple(label)))
        if (state, current) in made:
            nodes[place] = replace(nodes[place], covered_by=made[state, current])
            return place
        made[state, current] = place
        order = [(current + offset) % len(model.threads) for offset in range(len(model.threads))]
        able = [thread for thread in order if can_run(model, state, thread)]
        edges: list[Edge] = []
        for running in able if place < limit else ():
            if running != able[0] and (offers is None or offers.random() < 0.6):
                continue
            taken: set[Transition] = set()
            for transition, after in moves(model, state, running):
                if transition.failure is not None or transition in taken:
                    continue  # (for several inputs, the label of one is wrong for the others)
                taken.add(transition)
                switch = turns or transition.back
                following = (running + 1) % len(model.threads) if switch else running
                edges.append(Edge(transition, visit(after, following)))
        nodes[place] = replace(nodes[place], edges=tuple(edges))
        return place

    visit(initial(model), 0)
    return Proof(model, tuple(nodes))


# ------------------------------------------------------------------------------------------------------- sections


def test_a_cycle_without_branches_is_one_section() -> None:
    schedule = program_schedule(round_robin(stack(first=7), turns=False))
    assert check(schedule.proof.model, schedule) == []
    (again,) = schedule.sections
    assert (again.start, again.end) == (0, 0)
    assert [event.thread for event in again.events] == [0] * 5 + [1] * 5
    assert again.order == tuple((event, event + 1) for event in range(9))  # the lock orders everything


def test_what_leads_to_a_cycle_is_a_section() -> None:
    # The item stays when it is taken off the stack, so the second round begins in another state than the first.
    schedule = program_schedule(round_robin(stack(), turns=False))
    assert check(schedule.proof.model, schedule) == []
    first, again = schedule.sections
    assert (first.start, first.end) == (0, again.start)
    assert (again.start, len(again.events)) == (again.end, 10)


def test_known_values_and_indices() -> None:
    model = stack(first=7)
    (again,) = program_schedule(round_robin(model, turns=False)).sections
    lock, count = model.variables["lock"], model.variables["count"]
    assert [dict(event.values) for event in again.events[:5]] == [{lock: 0}, {count: 0}, {count: 0}, {count: 0}, {}]
    assert again.events[2].indices == (0, None)


def test_sections_can_repeat() -> None:
    proof = round_robin(stack(first=7), turns=False)
    (once,), thrice = program_schedule(proof).sections, program_schedule(proof, repeat=3)
    assert [event.transition for event in thrice.sections[0].events] == 3 * [event.transition for event in once.events]
    assert check(proof.model, thrice) == []


def test_only_dependent_events_are_ordered() -> None:
    maker = Scene("one", "two")
    x, y = maker.variable("x"), maker.variable("y")
    maker.step(0, 0, 1, sets={x: number(1)}, accesses=[write(x)])
    maker.step(0, 1, 2, when=compare("eq", y.term, number(0)), accesses=[read(y)])
    maker.step(0, 1, 2, when=negation(compare("eq", y.term, number(0))), accesses=[read(y)])
    maker.step(1, 0, 1, sets={x: number(0)}, accesses=[write(x)])
    maker.place(0, 2).rest = maker.place(1, 1).rest = "end"
    (section,) = program_schedule(round_robin(maker.model, turns=True)).sections
    assert [event.transition.number for event in section.events] == [0, 3, 1]
    assert section.order == ((0, 1), (0, 2))


def test_a_branch_ends_a_section() -> None:
    """The example of the paper's section 4."""
    maker = Scene("one", "two")
    x, y = maker.variable("x"), maker.variable("y")
    y.initial = None
    zero = compare("eq", y.term, number(0))
    maker.step(0, 0, 1, sets={x: number(1)}, accesses=[write(x)])
    maker.step(0, 1, 2, when=zero, accesses=[read(y)])
    maker.step(0, 1, 3, when=negation(zero), accesses=[read(y)])
    maker.step(0, 2, 0, sets={x: number(2)}, accesses=[write(x)])
    maker.step(0, 3, 0)
    maker.step(1, 0, 0, sets={x: number(0)}, accesses=[write(x)])
    model = maker.model
    ones, twos = model.threads[0].locations, model.threads[1].locations[0]
    steps = model.transitions
    nodes = (
        ProofNode(0, (ones[0], twos), (), (), (Edge(steps[0], 1),)),
        ProofNode(1, (ones[1], twos), (), (), (Edge(steps[5], 2),)),
        ProofNode(2, (ones[1], twos), (), (), (Edge(steps[1], 3), Edge(steps[2], 4))),
        ProofNode(3, (ones[2], twos), (), (), (Edge(steps[3], 5),)),
        ProofNode(4, (ones[3], twos), (), (), (Edge(steps[4], 6),)),
        ProofNode(5, (ones[0], twos), (), (), covered_by=0),
        ProofNode(6, (ones[0], twos), (), (), covered_by=0),
    )
    schedule = program_schedule(Proof(model, nodes))
    assert check(model, schedule) == []
    assert schedule.nodes == (0, 2)
    found = {(s.start, tuple(e.transition.number for e in s.events), s.end) for s in schedule.sections}
    assert found == {(0, (0, 5), 2), (2, (1, 3), 0), (2, (2, 4), 0)}
    assert describe(schedule) == [
        "1: one, then two; then 2",
        "2: if one goes on at location 2: one; then 1",
        "2: if one goes on at location 3: one; then 1",
    ]


def elements_model() -> Model:
    """Two threads that write different elements of an array, for ever."""
    maker = Scene("low", "high")
    array = maker.variable("array", length=2)
    for thread in (0, 1):
        at = constant(thread, INDEX_WIDTH)
        maker.step(thread, 0, 0, sets={array: store(array.term, at, number(thread))}, accesses=[write(array, at)])
    return maker.model


def test_different_elements_are_independent_if_asked_for() -> None:
    model = elements_model()
    low, high = (thread.entry for thread in model.threads)
    there = (low, high)
    proof = Proof(
        model,
        (
            ProofNode(0, there, (), (), (Edge(model.transitions[0], 1),)),
            ProofNode(1, there, (), (), (Edge(model.transitions[1], 2),)),
            ProofNode(2, there, (), (), covered_by=0),
        ),
    )
    assert program_schedule(proof).sections[0].order == ((0, 1),)
    schedule = program_schedule(proof, elements=True)
    assert schedule.sections[0].order == ()
    assert check(model, schedule) == []
    # Without the indices, nothing says that the order does not matter.
    (section,) = schedule.sections
    unknown = tuple(replace(event, indices=(None,)) for event in section.events)
    assert check(model, replace(schedule, sections=(replace(section, events=unknown),)))


# ------------------------------------------------------------------------- what a schedule permits, by brute force


def permitted(schedule: ProgramSchedule) -> list[str]:
    """What goes wrong in some execution under the schedule, and at some node, found by trying everything."""
    model, nodes = schedule.proof.model, schedule.proof.nodes
    problems: list[str] = []
    begin: tuple[State, int, SectionSchedule | None, int] = (initial(model), 0, None, 0)
    pending = [begin]
    met = {begin}

    def go(state: State, node: int, section: SectionSchedule | None, done: int) -> None:
        if section is not None and done == (1 << len(section.events)) - 1:
            node, section, done = section.end, None, 0
        place = (state, node, section, done)
        if place not in met:
            met.add(place)
            pending.append(place)

    while pending:
        state, node, section, done = pending.pop()
        if section is None:
            values = valuation(model, state)
            if state.locations != nodes[node].locations or not all(evaluate(f, values) for f in nodes[node].label):
                problems.append("a state is not one of its node's")
            sections = schedule.sections_at(node)
            if not sections and any(location.rest is None for location in state.locations):
                problems.append("the schedule ends before the program")
            events = [(entry, entry.events[0], 0) for entry in sections]
            if len({(entry.thread, entry.transition) for entry in sections}) != len(sections):
                problems.append("two sections begin in the same way")
        else:
            ready = [
                number
                for number in range(len(section.events))
                if not done >> number & 1 and all(done >> a & 1 for a, b in section.order if b == number)
            ]
            if not ready:
                problems.append("no event can come next")
            events = [(section, section.events[number], number) for number in ready]
        for thread in {event.thread for _, event, _ in events}:
            own = [each for each in events if each[1].thread == thread]
            if section is not None and len(own) > 1:
                problems.append("two events of a thread can come next")
            if not can_run(model, state, thread):
                problems.append("a thread cannot run when it should")
            for transition, after in moves(model, state, thread):
                chosen = [each for each in own if each[1].transition is transition]
                if transition.failure is not None:
                    problems.append("a thread fails")
                elif not chosen:
                    problems.append("a thread does something else than it should")
                for entry, _, position in chosen:
                    go(after, node, entry, done | 1 << position)
    return problems


def unfair(schedule: ProgramSchedule) -> bool:
    """Whether some thread can be passed over for ever though it can run again and again, and is never the one that may
    run, in the executions that follow the proof."""
    model = schedule.proof.model
    Place = tuple[State, int, SectionSchedule | None, int]
    begin: Place = (initial(model), 0, None, 0)
    edges: dict[Place, list[tuple[int, Place]]] = {}
    pending = [begin]
    while pending:
        place = pending.pop()
        if place in edges:
            continue
        state, node, section, done = place
        edges[place] = []
        events = (
            [(entry, entry.events[0]) for entry in schedule.sections_at(node)]
            if section is None
            else [(section, section.events[done])]
        )
        for entry, event in events:
            for transition, after in moves(model, state, event.thread):
                if transition is event.transition:
                    over = done + 1 == len(entry.events)
                    follower: Place = (after, entry.end, None, 0) if over else (after, node, entry, done + 1)
                    edges[place].append((event.thread, follower))
                    pending.append(follower)

    def reaches(start: Place, without: int) -> bool:
        """Whether there is a way from a place back to it on which the thread may nowhere run."""
        seen: set[Place] = set()
        todo = [start]
        while todo:
            ways = edges[todo.pop()]
            for _, follower in ways if without not in {thread for thread, _ in ways} else ():
                if follower == start:
                    return True
                if follower not in seen:
                    seen.add(follower)
                    todo.append(follower)
        return False

    return any(
        can_run(model, place[0], thread) and reaches(place, thread)
        for place in edges
        for thread in range(len(model.threads))
    )


# ------------------------------------------------------------------------------------------------- random programs


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Two or three threads over a few small variables and an array, with guards, branches, inputs and assertions."""
    count = draw(st.integers(2, 3))
    maker = Scene(*(f"t{number}" for number in range(count)))
    scalars = [maker.variable(name, 2) for name in "xy"]
    array = maker.variable("a", 2, length=2)

    def index() -> tuple[Term, list[SharedAccess]]:
        if draw(st.booleans()):
            return constant(draw(st.integers(0, 1)), INDEX_WIDTH), []
        low = convert("zext", convert("trunc", scalars[0].term, 1), INDEX_WIDTH)
        return low, [read(scalars[0])]

    def value() -> tuple[Term, list[SharedAccess]]:
        match draw(st.sampled_from(["constant", "variable", "sum", "element"])):
            case "constant":
                return number(draw(st.integers(0, 3)), 2), []
            case "variable":
                chosen = draw(st.sampled_from(scalars))
                return chosen.term, [read(chosen)]
            case "sum":
                chosen = draw(st.sampled_from(scalars))
                return binary("add", chosen.term, number(draw(st.integers(1, 2)), 2)), [read(chosen)]
            case _:
                at, reads = index()
                return select(array.term, at), [read(array, at), *reads]

    def condition() -> tuple[Term, list[SharedAccess]]:
        (left, some), (right, others) = value(), value()
        return compare(draw(st.sampled_from(["eq", "ult"])), left, right), some + others

    for thread in range(count):
        length = draw(st.integers(1, 3))
        for at in range(length):
            after = at + 1 if at + 1 < length else draw(st.sampled_from([0, length]))
            match draw(st.sampled_from(["write", "write", "element", "branch", "guard", "assert", "input"])):
                case "write":
                    target = draw(st.sampled_from(scalars))
                    new, reads = value()
                    maker.step(thread, at, after, sets={target: new}, accesses=[write(target), *reads])
                case "element":
                    (new, reads), (place, more) = value(), index()
                    sets = {array: store(array.term, place, new)}
                    maker.step(thread, at, after, sets=sets, accesses=[write(array, place), *reads, *more])
                case "branch":
                    when, reads = condition()
                    maker.step(thread, at, after, when=when, accesses=reads)
                    maker.step(thread, at, draw(st.integers(0, length)), when=negation(when), accesses=reads)
                case "guard":
                    when, reads = condition()
                    maker.place(thread, at).enabled = when
                    maker.step(thread, at, after, when=when, accesses=reads)
                case "assert":
                    when, reads = condition()
                    maker.step(thread, at, after, when=when, accesses=reads)
                    maker.step(thread, at, length + 1, when=negation(when), accesses=reads, failure="assertion")
                case "input":
                    entry = Input(variable(f"input{thread}_{at}", 2), number(2, 2))
                    zero = compare("eq", entry.term, number(0, 2))
                    maker.step(thread, at, after, when=zero, inputs=[entry])
                    maker.step(thread, at, draw(st.integers(0, length)), when=negation(zero), inputs=[entry])
        maker.place(thread, length).rest = "end"
        maker.place(thread, length + 1).rest = "failed"
    return maker.model


@st.composite
def schedules(draw: st.DrawFn, *, elements: bool | None = None, offers: bool = True) -> ProgramSchedule:
    choice = Random(draw(st.integers(0, 1000))) if offers and draw(st.booleans()) else None
    proof = round_robin(draw(models()), turns=draw(st.booleans()), limit=60, offers=choice)
    elements = draw(st.booleans()) if elements is None else elements
    return program_schedule(proof, repeat=draw(st.integers(1, 2)), elements=elements)


@given(schedules())
@settings(max_examples=150, deadline=None)
def test_the_checker_accepts_exactly_what_holds(schedule: ProgramSchedule) -> None:
    """The labels of these proofs say all of a state, so that nothing which holds can fail to be proved."""
    accepted = check(schedule.proof.model, schedule) == []
    assert accepted == (not permitted(schedule) and not unfair(schedule))


# --------------------------------------------------------------------------------------------- schedules made wrong


def with_node(schedule: ProgramSchedule, node: ProofNode) -> ProgramSchedule:
    nodes = list(schedule.proof.nodes)
    nodes[node.number] = node
    return replace(schedule, proof=replace(schedule.proof, nodes=tuple(nodes)))


def with_section(schedule: ProgramSchedule, place: int, section: SectionSchedule) -> ProgramSchedule:
    sections = list(schedule.sections)
    sections[place] = section
    return replace(schedule, sections=tuple(sections))


@given(schedules(elements=True))
@settings(max_examples=40, deadline=None)
def test_every_pair_of_an_order_is_needed(schedule: ProgramSchedule) -> None:
    model = schedule.proof.model
    if check(model, schedule):
        return
    for place, section in enumerate(schedule.sections):
        for pair in section.order:
            others = tuple(other for other in section.order if other != pair)
            assert check(model, with_section(schedule, place, replace(section, order=others)))
            flipped = (*others, (pair[1], pair[0]))
            assert check(model, with_section(schedule, place, replace(section, order=flipped)))


@given(schedules(offers=False))
@settings(max_examples=25, deadline=None)
def test_every_edge_is_needed(schedule: ProgramSchedule) -> None:
    model = schedule.proof.model
    if check(model, schedule):
        return
    for node in schedule.proof.nodes:
        for edge in node.edges:
            fewer = tuple(other for other in node.edges if other is not edge)
            assert check_proof(model, with_node(schedule, replace(node, edges=fewer)).proof)


def mutate(schedule: ProgramSchedule, random: Random) -> ProgramSchedule:
    """The same schedule with some part of it changed."""
    model, proof = schedule.proof.model, schedule.proof
    node = random.choice(proof.nodes)
    kinds = ["weaken", "strengthen", "negate", "cover", "uncover", "redirect", "transition", "thread", "start", "offer"]
    if schedule.sections:
        kinds += ["section", "swap", "cut", "end", "order", "index", "value"]
    kind = random.choice(kinds)
    place = random.randint(0, max(0, len(schedule.sections) - 1))
    section = schedule.sections[place] if schedule.sections else None
    match kind:
        case "weaken" if node.label:
            gone = random.choice(node.label)
            return with_node(schedule, replace(node, label=tuple(fact for fact in node.label if fact is not gone)))
        case "strengthen":
            term = random.choice([each.term for each in model.variables.values() if not each.is_array])
            fact = compare("eq", term, constant(random.randint(0, 3), term.width))
            return with_node(schedule, replace(node, label=(*node.label, fact)))
        case "negate" if node.label:
            first, *others = node.label
            return with_node(schedule, replace(node, label=(negation(first), *others)))
        case "cover":
            return with_node(schedule, replace(node, edges=(), covered_by=random.randrange(len(proof.nodes))))
        case "uncover":
            return with_node(schedule, replace(node, covered_by=None))
        case "redirect" | "transition" if node.edges:
            edges = list(node.edges)
            at = random.randint(0, len(edges) - 1)
            if kind == "redirect":
                edges[at] = replace(edges[at], target=random.randrange(len(proof.nodes)))
            else:
                edges[at] = replace(edges[at], transition=random.choice(model.transitions))
            return with_node(schedule, replace(node, edges=tuple(edges)))
        case "thread":
            extra = Edge(random.choice(model.transitions), random.randrange(len(proof.nodes)))
            return with_node(schedule, replace(node, edges=(*node.edges, extra)))
        case "offer" if len(node.threads) > 1:
            gone_thread = random.choice(node.threads)
            fewer = tuple(edge for edge in node.edges if edge.transition.thread != gone_thread)
            changed = with_node(schedule, replace(node, edges=fewer))
            return program_schedule(changed.proof) if random.random() < 0.5 else changed
        case "start" if schedule.nodes:
            return replace(schedule, nodes=tuple(random.sample(schedule.nodes, len(schedule.nodes) - 1)))
        case "section":
            return replace(schedule, sections=schedule.sections[:place] + schedule.sections[place + 1 :])
    if section is None or not section.events:
        return schedule
    events = list(section.events)
    at = random.randint(0, len(events) - 1)
    match kind:
        case "swap" if len(events) > 1:
            other = random.randint(0, len(events) - 1)
            events[at], events[other] = events[other], events[at]
        case "cut" if len(events) > 1:
            del events[at:]
            order = tuple(pair for pair in section.order if pair[1] < at)
            end = random.randrange(len(proof.nodes))
            return with_section(schedule, place, replace(section, events=tuple(events), order=order, end=end))
        case "end":
            return with_section(schedule, place, replace(section, end=random.randrange(len(proof.nodes))))
        case "order":
            order = tuple(pair for pair in section.order if random.random() < 0.8)
            return with_section(schedule, place, replace(section, order=order))
        case "index":
            indices = tuple(random.choice([index, 0, 1, None]) for index in events[at].indices)
            events[at] = replace(events[at], indices=indices)
        case "value":
            chosen = random.choice(list(model.variables.values())[:2])
            events[at] = replace(events[at], values={chosen: random.randint(0, 3)})
    return with_section(schedule, place, replace(section, events=tuple(events)))


@given(schedules(), st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_what_the_checker_accepts_holds(schedule: ProgramSchedule, seed: int) -> None:
    """Whatever is done to a schedule: it is rejected, or what it permits is still right."""
    random = Random(seed)
    for _ in range(10):
        mutant = mutate(schedule, random)
        if random.random() < 0.3:
            mutant = mutate(mutant, random)
        if check(mutant.proof.model, mutant) == []:
            assert permitted(mutant) == []
            assert not unfair(mutant)
            for section in mutant.sections:
                assert_values(mutant, section)


def assert_values(schedule: ProgramSchedule, section: SectionSchedule) -> None:
    """That the values and indices which a section's events claim are those of each execution."""
    model = schedule.proof.model
    pending = [state for state, node in boundary_states(schedule) if node == section.start]
    for event in section.events:
        for state in pending:
            values = valuation(model, state)
            for each, value in event.values.items():
                assert values[each.term] == value
            for access, index in zip(event.transition.accesses, event.indices, strict=True):
                assert index is None or (access.index is not None and evaluate(access.index, values) == index)
        pending = [
            after
            for state in pending
            for transition, after in moves(model, state, event.thread)
            if transition is event.transition
        ]


def boundary_states(schedule: ProgramSchedule) -> set[tuple[State, int]]:
    """All states between sections, with their nodes."""
    model = schedule.proof.model
    met = {(initial(model), 0)}
    pending = list(met)
    while pending:
        state, node = pending.pop()
        for section in schedule.sections_at(node):
            states = {state}
            for event in section.events:
                taken = [move for each in states for move in moves(model, each, event.thread)]
                states = {after for transition, after in taken if transition is event.transition}
            for after in states:
                if (after, section.end) not in met:
                    met.add((after, section.end))
                    pending.append((after, section.end))
    return met


def test_an_unfair_cycle_is_rejected() -> None:
    model = elements_model()
    locations = model.initial_locations
    once_and_again = (
        ProofNode(0, locations, (), (), (Edge(model.transitions[0], 1),)),
        ProofNode(1, locations, (), (), covered_by=0),
    )
    assert check_proof(model, Proof(model, once_and_again)) == [
        "node 0: thread high (location 0) may be passed over for ever"
    ]
    # It may be passed over where it cannot run.
    model.threads[1].entry.enabled = FALSE
    assert check_proof(model, Proof(model, once_and_again)) == []


def offering() -> ProgramSchedule:
    """One thread goes round again and again; where it has gone round, the other one may go as well."""
    model = elements_model()
    low, high = model.transitions
    locations = model.initial_locations
    nodes = (
        ProofNode(0, locations, (), (), (Edge(low, 1),)),
        ProofNode(1, locations, (), (), (Edge(low, 0), Edge(high, 0))),
    )
    return program_schedule(Proof(model, nodes))


def test_a_cycle_that_passes_an_offer_is_fair() -> None:
    schedule = offering()
    model, (first, second) = schedule.proof.model, schedule.proof.nodes
    assert check(model, schedule) == []
    assert len(schedule.sections_at(1)) == 2
    # Without the offer it is not.
    withdrawn = replace(schedule.proof, nodes=(first, replace(second, edges=second.edges[:1])))
    assert "may be passed over for ever" in check_proof(model, withdrawn)[0]


def test_sections_keep_what_the_proof_offers() -> None:
    schedule = offering()
    model = schedule.proof.model
    kept = tuple(section for section in schedule.sections if (section.start, section.thread) != (1, 1))
    assert check(model, replace(schedule, sections=kept)) == [
        "node 1: there is not one section for each edge of thread high"
    ]
    # Nor may a section go on where others may run.
    first, again = (next(each for each in schedule.sections if each.start == start) for start in (0, 1))
    events = (*first.events, *again.events)
    order = section_order(events, elements=False)
    longer = replace(first, events=events, order=order, end=again.end)
    others = tuple(section for section in schedule.sections if section is not first)
    assert check(model, replace(schedule, sections=(longer, *others))) == [
        "section 0: event 1 is a branch, or others may run instead"
    ]


def test_a_thread_that_may_block_is_rejected() -> None:
    maker = Scene("waits")
    x = maker.variable("x")
    x.initial = None
    zero = compare("eq", x.term, number(0))
    maker.place(0, 0).enabled = zero
    maker.step(0, 0, 1, when=zero, accesses=[read(x)])
    maker.place(0, 1).rest = "end"
    (start, end), model = maker.model.threads[0].locations, maker.model
    nodes = (ProofNode(0, (start,), (), (), (Edge(model.transitions[0], 1),)), ProofNode(1, (end,), (), ()))
    assert check_proof(model, Proof(model, nodes)) == ["node 0: thread waits (location 0) may be unable to go on"]
    assert check_proof(model, Proof(model, (nodes[0], replace(nodes[1], label=(zero,)))))  # that does not help
    x.initial = 0
    assert check_proof(model, Proof(model, (replace(nodes[0], label=(zero,)), nodes[1]))) == []
    assert check_proof(model, Proof(model, (replace(nodes[0], edges=()),)))  # there is more to do


@pytest.mark.parametrize(("holder", "accepted"), [(1, False), (2, True), (0, False)])
def test_threads_that_wait_for_each_other_are_rejected(holder: int, accepted: bool) -> None:
    """While another thread goes on. The first thread waits for what `holder` has, the second for what the first has."""
    maker = Scene("first", "second", "other")
    for thread, held_by in ((0, holder), (1, 0)):
        owner = maker.variable(f"owner{thread}", 64)
        owner.initial = address_of(held_by + 1, 0)
        location, free = maker.place(thread, 0), compare("eq", owner.term, number(0, 64))
        location.enabled, location.holder = free, owner.term
        maker.step(thread, 0, 0, when=free, accesses=[read(owner)])
    model = maker.model
    again = maker.step(2, 0, 0)
    label = tuple(
        compare("eq", each.term, number(each.initial, 64))
        for each in model.variables.values()
        if isinstance(each.initial, int)
    )
    nodes = (
        ProofNode(0, model.initial_locations, (), label, (Edge(again, 1),)),
        ProofNode(1, model.initial_locations, (), label, covered_by=0),
    )
    problems = check_proof(model, Proof(model, nodes))
    assert (problems == []) == accepted
    assert all("may wait for each other" in problem for problem in problems)


# ------------------------------------------------------------------------------------------------------- as a file


def same(one: ProgramSchedule, other: ProgramSchedule) -> bool:
    def plain(schedule: ProgramSchedule) -> object:
        return (
            schedule.proof.nodes,
            schedule.nodes,
            [
                (s.start, s.thread, s.transition, s.order, s.end, [plain_event(event) for event in s.events])
                for s in schedule.sections
            ],
        )

    def plain_event(event: Event) -> object:
        return (event.thread, event.transition, event.node, dict(event.values), event.indices)

    return plain(one) == plain(other)


@given(schedules())
@settings(max_examples=50, deadline=None)
def test_files_keep_everything(schedule: ProgramSchedule) -> None:
    text = json.dumps(to_json(schedule))
    assert same(from_json(json.loads(text), schedule.proof.model), schedule)


def stored(schedule: ProgramSchedule, tmp_path: Path) -> Path:
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps(to_json(schedule)))
    return path


def test_a_file_with_a_flipped_pair_is_rejected(tmp_path: Path) -> None:
    model = stack()
    path = stored(program_schedule(round_robin(model, turns=False)), tmp_path)
    assert check(model, load(path, model)) == []
    data = json.loads(path.read_text())
    data["sections"][1]["order"][3].reverse()
    path.write_text(json.dumps(data))
    assert "backwards" in check(model, load(path, model))[0]


@pytest.mark.parametrize("beyond", [1 << 32, -1 << 32])
def test_values_that_a_variable_cannot_have_are_rejected(beyond: int) -> None:
    model = stack()
    schedule = program_schedule(round_robin(model, turns=False))
    variable = model.variables["count"]

    def claiming(value: int) -> ProgramSchedule:
        sections = list(schedule.sections)
        event = next(event for event in sections[1].events if variable in event.values)
        values = {**event.values, variable: event.values[variable] + value}
        events = [replace(each, values=values) if each is event else each for each in sections[1].events]
        sections[1] = replace(sections[1], events=tuple(events))
        return replace(schedule, sections=tuple(sections))

    assert check(model, claiming(0)) == []
    assert "not one of its variable's" in check(model, claiming(beyond))[0]


def test_indices_that_are_missing_are_rejected() -> None:
    model = stack()
    schedule = program_schedule(round_robin(model, turns=False))
    section = schedule.sections[1]
    changed = replace(section, events=tuple(replace(event, indices=()) for event in section.events))
    sections = tuple(changed if each is section else each for each in schedule.sections)
    assert "one index for each access" in check(model, replace(schedule, sections=sections))[0]


def test_a_file_of_another_program_is_refused(tmp_path: Path) -> None:
    path = stored(program_schedule(round_robin(stack(), turns=False)), tmp_path)
    with pytest.raises(InputError, match=r"schedule.json: a schedule of another program"):
        load(path, stack(first=7))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.update(format=1), "schedule format 1, but this version reads format 2"),
        (lambda data: data.pop("nodes"), 'the file has no "nodes"'),
        (lambda data: data.update(more=1), 'the file has "more", which is not part of the format'),
        (lambda data: data["nodes"][2].update(covered_by="x"), r"nodes\[2\].covered_by is not of type integer or null"),
        (lambda data: data["nodes"][0]["edges"].append([1]), r"nodes\[0\].edges\[1\] does not have 2 entries"),
        (lambda data: data["nodes"][0]["edges"].append([99, 0]), "node 0: the program has no transition 99"),
        (lambda data: data["nodes"][0]["locations"].pop(), "node 0: 1 locations for 2 threads"),
        (lambda data: data["nodes"][0].update(locations=[99, 0]), "thread producer has no location 99"),
        (lambda data: data["nodes"][0]["label"].append("(eq x)"), "node 0: .* no variable is called 'x'"),
        (lambda data: data["sections"][0].update(events=[]), "section 0: it has no events"),
        (lambda data: data["sections"][0].update(start=-1), r"sections\[0\].start is less than 0"),
        (lambda data: data["sections"][0].update(start=True), r"sections\[0\].start is not of type integer"),
    ],
)
def test_a_damaged_file_is_refused_in_words(change: object, message: str) -> None:
    model = stack()
    data = to_json(program_schedule(round_robin(model, turns=False)))
    assert callable(change)
    change(data)
    with pytest.raises(InputError, match=message):
        from_json(data, model)


def places(data: object) -> Iterator[tuple[object, object]]:
    """All parts of a JSON value: what they are in, and by which key or index."""
    keys: Iterable[object] = ()
    if isinstance(data, dict):
        keys = list(data)
    elif isinstance(data, list):
        keys = range(len(data))
    for key in keys:
        yield data, key
        yield from places(data[key])  # type: ignore[index]


@given(st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_whatever_is_in_a_file_is_refused_or_checked(random: Random) -> None:
    model = stack()
    data = to_json(program_schedule(round_robin(model, turns=False)))
    junk: list[object] = [
        0,
        1,
        3,
        99,
        1 << 70,
        -1,
        True,
        None,
        "x",
        [],
        {},
        "true",
        "(trunc 0 count)",
        "(i0 0)",
        "(" * 5000,
        "(eq items items)",
    ]
    for _ in range(random.randint(1, 2)):
        where, key = random.choice(list(places(data)))
        where[key] = random.choice(junk)  # type: ignore[index]
    try:
        schedule = from_json(data, model)
    except InputError:
        return
    assert isinstance(check(model, schedule), list)


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    for content, message in ((b"{", "not JSON"), (b"\xff", "not JSON"), (b"[]", "the file is not of type object")):
        path.write_bytes(content)
        with pytest.raises(InputError, match=message):
            load(path, stack())
    with pytest.raises(InputError, match="No such file"):
        load(tmp_path / "missing.json", stack())


# ----------------------------------------------------------------------------------------------------- for people


def test_in_words() -> None:
    schedule = program_schedule(round_robin(stack(first=7), turns=False))
    assert describe(schedule) == ["producer, then consumer, and again"]


@given(schedules())
@settings(max_examples=30, deadline=None)
def test_pictures_show_every_event(schedule: ProgramSchedule) -> None:
    import xml.etree.ElementTree

    picture = xml.etree.ElementTree.fromstring(to_svg(schedule))
    events = [each for each in picture.iter("{http://www.w3.org/2000/svg}text") if each.get("class") == "event"]
    count = sum(len(section.events) for section in schedule.sections)
    assert len(events) == count
    assert to_dot(schedule).count("shape=box") == count
