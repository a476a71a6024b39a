"""Prove a schedule again, from nothing but the program and what the schedule says.

This shares nothing with the search but the language of terms. Three claims are proved, each from what the file says of
it, so a wrong file is found out whatever is wrong with it:

- The proof is inductive and safe: the initial state is one of node 0, each transition of a thread that may run leads to
  the node that its edge says, a state of a covered node is one of the covering node, and no transition that fails, or
  that has no edge, is possible.
- No execution ends too early or leaves out a thread: a thread that may run is enabled, some thread may run unless the
  program has ended, no threads wait for each other in a circle, and nobody is passed over for ever: in the graph
  without the nodes at which a thread may run, that thread is disabled at each node on a cycle, unless all that happens
  on it is what threads compute on their own in loops that are proved to end. (Whoever follows the schedule lets a
  thread run that may run again and again: that is what it has to promise.)
- Each section follows the proof without branches, its order keeps all dependent events apart, and the sections that
  begin where one ends are all that the threads need which may run there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import z3

from mazurka.engines.abstract.memory import address_of
from mazurka.engines.abstract.model import Access, Location, Model, Transition, Variable
from mazurka.engines.abstract.proof import Node, Proof
from mazurka.engines.abstract.terms import (
    FALSE,
    INDEX_WIDTH,
    Term,
    array,
    compare,
    conjunction,
    constant,
    negation,
    store,
    substitute,
)
from mazurka.schedules.sections import Event, ProgramSchedule, Section

# How long the solver may think about one question, in milliseconds. What it cannot prove then counts as wrong.
_PATIENCE = 60_000


def check(model: Model, schedule: ProgramSchedule) -> list[str]:
    """What does not hold, in words. If that is nothing, every execution under the schedule is safe, free of deadlocks
    and fair."""
    return check_proof(model, schedule.proof) or _Sections(model, schedule).problems()


def check_proof(model: Model, proof: Proof) -> list[str]:
    """What does not hold of the proof on its own."""
    return _Proof(model, proof).problems()


class Facts:
    """What is known of some states. Constants among it come first: they decide most questions without a solver."""

    def __init__(self, facts: Iterable[Term]) -> None:
        self.known: dict[Term, Term] = {}
        self.others: frozenset[Term] = frozenset()
        pending = list(facts)
        while pending:
            fact = substitute(pending.pop(), self.known)
            pair = _equality(fact)
            if fact.op == "and":
                pending += fact.args
            elif pair is None:
                self.others |= {fact}
            else:
                self.known[pair[0]] = pair[1]
                pending += [other for other in self.others if pair[0] in other.variables]
                self.others = frozenset(other for other in self.others if pair[0] not in other.variables)


class Prover:
    """Whether facts imply others. Each question is asked once, of a new solver."""

    def __init__(self) -> None:
        self._answers: dict[tuple[frozenset[Term], Term], bool] = {}
        self._made: dict[Term, Any] = {}

    def implies(self, facts: Facts, goal: Term) -> bool:
        goal = substitute(goal, facts.known)
        if goal.is_true or goal in facts.others or FALSE in facts.others:
            return True
        question = (facts.others, goal)
        if question not in self._answers:
            solver = z3.Solver()
            solver.set("timeout", _PATIENCE)
            solver.add(*(self._translate(fact) for fact in facts.others), z3.Not(self._translate(goal)))
            self._answers[question] = solver.check() == z3.unsat
        return self._answers[question]

    def _translate(self, term: Term) -> Any:
        """As a formula of the solver: conditions are Booleans, numbers bit-vectors."""
        pending = [term]
        while pending:
            current = pending[-1]
            missing = [arg for arg in current.args if arg not in self._made]
            if missing:
                pending += missing
            else:
                pending.pop()
                if current not in self._made:
                    self._made[current] = _formula(current, [self._made[arg] for arg in current.args])
        return self._made[term]


def _equality(fact: Term) -> tuple[Term, Term] | None:
    """The variable and the constant that a fact says it is, if it does."""
    if fact.op == "eq" and fact.args[0].op == "variable" and fact.args[1].is_constant:
        return fact.args[0], fact.args[1]
    if fact.op == "variable":
        return fact, constant(1, 1)
    if fact.op == "xor" and fact.args[0].op == "variable" and fact.args[1].is_constant:
        return fact.args[0], constant(1 - fact.args[1].value, 1)
    return None


def _formula(term: Term, args: Sequence[Any]) -> Any:
    if term.length is not None:
        match term.op:
            case "variable":
                return z3.Array(term.name, z3.BitVecSort(INDEX_WIDTH), _sort(term.width))
            case "array":
                return z3.K(z3.BitVecSort(INDEX_WIDTH), args[0])
            case "store":
                return z3.Store(*args)
            case "ite":
                return z3.If(*args)
        raise AssertionError(term.op)
    width = term.width
    if width == 1 and term.op in _OF_CONDITIONS:
        return _OF_CONDITIONS[term.op](*args)
    match term.op:
        case "constant":
            return z3.BoolVal(bool(term.value)) if width == 1 else z3.BitVecVal(term.value, width)
        case "variable":
            return z3.Const(term.name, _sort(width))
        case "ite":
            return z3.If(*args)
        case "select":
            return z3.Select(*args)
        case "eq":
            return args[0] == args[1]
        case "zext" | "sext" | "trunc":
            source = _bits(args[0]) if term.args[0].width == 1 else args[0]
            small = term.args[0].width
            if term.op == "zext":
                return z3.ZeroExt(width - small, source)
            if term.op == "sext":
                return z3.SignExt(width - small, source)
            part = z3.Extract(width - 1, 0, source)
            return part == 1 if width == 1 else part
    # What is left works on bit-vectors, also of one bit.
    numbers = [_bits(arg) if of.width == 1 else arg for of, arg in zip(term.args, args, strict=True)]
    result = _OF_NUMBERS[term.op](*numbers)
    return result == 1 if z3.is_bv(result) and width == 1 else result


def _sort(width: int) -> Any:
    return z3.BoolSort() if width == 1 else z3.BitVecSort(width)


def _bits(condition: Any) -> Any:
    return z3.If(condition, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))


_OF_CONDITIONS = {"and": z3.And, "or": z3.Or, "xor": z3.Xor}
_OF_NUMBERS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "udiv": z3.UDiv,
    "sdiv": lambda a, b: a / b,
    "urem": z3.URem,
    "srem": z3.SRem,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b,
    "lshr": z3.LShR,
    "ashr": lambda a, b: a >> b,
    "ult": z3.ULT,
    "ule": z3.ULE,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
}


def claims_of(model: Model, node: Node) -> list[Term]:
    """All that a node says of its states."""
    explicit = [(model.variables[name].term, value) for name, value in node.explicit]
    return [compare("eq", term, constant(value, term.width)) for term, value in explicit] + list(node.label)


def step_facts(transition: Transition) -> list[Term]:
    """What holds in a state in which the transition is taken."""
    inputs = [compare("ult", entry.term, entry.count) for entry in transition.inputs]
    return [*inputs, transition.condition]


class _Proof:
    def __init__(self, model: Model, proof: Proof) -> None:
        self._model = model
        self._proof = proof
        self._prover = Prover()
        self._problems: list[str] = []

    def problems(self) -> list[str]:
        self._form()
        if not self._problems:  # what follows relies on the form
            self._claims = [claims_of(self._model, node) for node in self._proof.nodes]
            self._facts = [Facts(claims) for claims in self._claims]
            self._beginning()
            for node in self._proof.nodes:
                if node.covered_by is None:
                    self._expansion(node)
                    self._circles(node)
                else:
                    self._covering(node, self._proof.nodes[node.covered_by])
            self._fairness()
        return self._problems

    def _say(self, node: Node, problem: str) -> None:
        self._problems.append(f"node {node.number}: {problem}")

    def _form(self) -> None:
        """That it is a graph of nodes of this program."""
        model, nodes = self._model, self._proof.nodes
        places = [set(thread.locations) for thread in model.threads]
        known = {variable.term for variable in model.variables.values()}
        if not nodes:
            self._problems.append("there are no nodes")
        for position, node in enumerate(nodes):
            if node.number != position:
                self._say(node, f"it is at position {position}")
            if len(node.locations) != len(model.threads):
                self._say(node, "it does not have one location for each thread")
            elif any(at not in own for at, own in zip(node.locations, places, strict=True)):
                self._say(node, "it has a location that is not one of its thread's")
            for name, value in node.explicit:
                if name not in model.variables or not _can_be(model.variables[name], value):
                    self._say(node, f"'{name}' is not a variable with a single value, or it cannot be {value}")
            for fact in node.label:
                if fact.width != 1 or fact.length is not None or not fact.variables <= known:
                    self._say(node, f"{fact} is not a condition on the program's variables")
            if any(not 0 <= edge.target < len(nodes) for edge in node.edges):
                self._say(node, "an edge leads to no node")
            if node.covered_by is not None:
                if not 0 <= node.covered_by < len(nodes) or nodes[node.covered_by].covered_by is not None:
                    self._say(node, "it is covered by a node that is not there or is covered itself")
                if node.edges:
                    self._say(node, "it is covered but has edges")

    def _beginning(self) -> None:
        root = self._proof.nodes[0]
        if root.locations != self._model.initial_locations:
            self._say(root, "the program does not begin at its locations")
        values = {
            variable.term: _value(variable.term, variable.initial)
            for variable in self._model.variables.values()
            if variable.initial is not None
        }
        for fact in self._claims[0]:
            if not self._prover.implies(Facts(()), substitute(fact, values)):
                self._say(root, f"{fact} does not hold when the program begins")

    def _covering(self, node: Node, other: Node) -> None:
        if node.locations != other.locations:
            self._say(node, f"it is covered by node {other.number}, which is at other locations")
        for fact in self._claims[other.number]:
            if not self._prover.implies(self._facts[node.number], fact):
                self._say(node, f"it is covered by node {other.number}, but may not satisfy {fact}")

    def _expansion(self, node: Node) -> None:
        """That the threads that may run here can, and that their edges are all that they do."""
        facts = self._facts[node.number]
        if any(location.rest == "exit" for location in node.locations) and node.edges:
            self._say(node, "a thread may run after the program has ended")
        if not node.edges and not self._has_ended(node) and not self._prover.implies(facts, FALSE):
            self._say(node, "no thread may run, but the program has not ended")
        for thread in node.threads:
            location = node.locations[thread]
            if not self._prover.implies(facts, location.enabled):
                self._say(node, f"{self._place(location)} may be unable to go on")
            for transition in location.transitions:
                edges = [edge for edge in node.edges if edge.transition is transition]
                possible = not self._prover.implies(self._facts_during(node, transition), FALSE)
                if possible and transition.failure is not None:
                    self._say(node, f"{self._place(location)} may fail: {transition.failure.message}")
                if possible and not edges:
                    self._say(
                        node, f"{self._place(location)} may take transition {transition.number}, which has no edge"
                    )
                if len(edges) > 1:
                    self._say(node, f"transition {transition.number} has several edges")
        for edge in node.edges:
            self._edge(node, edge.transition, self._proof.nodes[edge.target])

    def _circles(self, node: Node) -> None:
        """That no threads wait in a circle, each for what the next one holds: they would whatever others do."""
        waits: dict[int, dict[int, Term]] = {}
        for thread, location in enumerate(node.locations):
            if location.rest is not None or location.waits != "await" or location.holder is None:
                continue
            facts = self._facts[node.number]
            disabled = substitute(negation(location.enabled), facts.known)
            holder = substitute(location.holder, facts.known)
            for other in () if disabled.is_false else range(len(node.locations)):
                held = compare("eq", holder, constant(address_of(other + 1, 0), holder.width))
                wait = conjunction([disabled, held])
                if not self._prover.implies(facts, negation(wait)):
                    waits.setdefault(thread, {})[other] = wait
        for circle in _simple_cycles(waits):
            together = conjunction([waits[thread][other] for thread, other in circle])
            if not self._prover.implies(self._facts[node.number], negation(together)):
                names = " and ".join(self._place(node.locations[thread]) for thread, _ in circle)
                self._say(node, f"{names} may wait for each other")

    def _edge(self, node: Node, transition: Transition, target: Node) -> None:
        if transition not in node.locations[transition.thread].transitions:
            self._say(node, f"transition {transition.number} does not begin at its locations")
            return
        after = list(node.locations)
        after[transition.thread] = transition.target
        for thread in transition.starts:
            if node.locations[thread].rest != "unborn":
                self._say(node, f"transition {transition.number} creates a thread that exists already")
            after[thread] = self._model.threads[thread].entry
        if target.locations != tuple(after):
            self._say(node, f"transition {transition.number} does not lead to the locations of node {target.number}")
        facts = self._facts_during(node, transition)
        assigns = {variable.term: value for variable, value in transition.assigns.items()}
        for fact in self._claims[target.number]:
            if not self._prover.implies(facts, substitute(fact, assigns)):
                where = f"after transition {transition.number}, at node {target.number},"
                self._say(node, f"{where} {fact} may not hold")

    def _facts_during(self, node: Node, transition: Transition) -> Facts:
        return Facts([*self._claims[node.number], *step_facts(transition)])

    def _has_ended(self, node: Node) -> bool:
        rests = [location.rest for location in node.locations]
        return "failed" not in rests and ("exit" in rests or None not in rests)

    def _fairness(self) -> None:
        """That no execution passes over for ever a thread that can run again and again. Such an execution comes to a
        point after which the thread never may run, since its turn would come if it might again and again. It ends up
        in a strongly connected part of the graph without the nodes at which the thread may run, and visits a node of it
        for ever at which the thread may be enabled. It takes infinitely many steps there that are not passing (see
        `_passing`), so a part that has no others can be left out: no execution stays in it."""
        nodes = self._proof.nodes
        passing = self._passing()
        for thread in self._model.threads:
            offered = {node.number for node in nodes if thread.number in node.threads}
            steps = [
                [
                    (target, edge.transition)
                    for edge in node.edges
                    if node.number not in offered and (target := self._proof.uncovered(edge.target)) not in offered
                ]
                for node in nodes
            ]
            for part in components([sorted({target for target, _ in each}) for each in steps]):
                inside = [step for number in part for target, step in steps[number] if target in part]
                if passing.issuperset(inside):
                    continue
                for number in sorted(part):
                    location = nodes[number].locations[thread.number]
                    if location.rest is None and not self._prover.implies(
                        self._facts[number], negation(location.enabled)
                    ):
                        self._say(nodes[number], f"{self._place(location)} may be passed over for ever")

    def _passing(self) -> set[Transition]:
        """Silent transitions of which no execution consists alone from some time on. If one did, some thread would take
        infinitely many of them, and stay in a strongly connected part of its own graph of silent transitions: there is
        none here in which it can. That is proved for each part from the ranks that the model suggests, whose variables
        nobody but the thread itself assigns."""
        passing: set[Transition] = set()
        for thread in self._model.threads:
            silent = [each for location in thread.locations for each in location.transitions if each.silent]
            assigned = {
                variable.term
                for transition in self._model.transitions
                if transition.thread != thread.number and thread.number not in transition.starts
                for variable in transition.assigns
            }
            own = {variable.term for variable in self._model.variables.values()} - assigned
            steps = {each: step_facts(each) for each in silent}
            staying = [each for part in _parts(steps) if not self._ends(part, 0, own) for each in part]
            endless = {each.source for each in staying}
            passing |= {each for each in silent if each.source not in endless}
        return passing

    def _ends(self, steps: dict[Transition, list[Term]], level: int, own: set[Term]) -> bool:
        """Whether no execution stays in a strongly connected part for ever, of whose transitions some facts are known.
        No transition increases the rank of this level, which is a number for each location, so it does not change any
        more from some time on, and then only the parts matter that are made of what can happen without a change."""
        left: dict[Transition, list[Term]] = {}
        for transition, facts in steps.items():
            before, there = _rank(transition.source, level), _rank(transition.target, level)
            if before is None or there is None or before.width != there.width:
                return False
            if not before.variables | there.variables <= own:
                return False
            after = substitute(there, {variable.term: value for variable, value in transition.assigns.items()})
            if not self._prover.implies(Facts(facts), compare("ule", after, before)):
                return False
            kept = [*facts, compare("eq", after, before)]
            if not self._prover.implies(Facts(kept), FALSE):
                left[transition] = kept
        return all(self._ends(part, level + 1, own) for part in _parts(left))

    def _place(self, location: Location) -> str:
        return place_of(self._model, location)


def _can_be(variable: Variable, value: int) -> bool:
    return not variable.is_array and 0 <= value < 1 << variable.term.width


def place_of(model: Model, location: Location) -> str:
    source = location.point.source if location.point else None
    where = f" ({source.file}:{source.line})" if source else f" (location {location.number})"
    return f"thread {model.threads[location.thread].display}{where}"


def _value(term: Term, initial: int | tuple[int, ...]) -> Term:
    if isinstance(initial, int):
        return constant(initial, term.width)
    assert term.length is not None
    result = array(constant(0, term.width), term.length)
    for index, element in enumerate(initial):
        if element:
            result = store(result, constant(index, INDEX_WIDTH), constant(element, term.width))
    return result


def _simple_cycles(successors: Mapping[int, Iterable[int]]) -> Iterator[list[tuple[int, int]]]:
    """The cycles of a small graph that meet no node twice, as lists of edges, each from its smallest node."""

    def extend(path: list[int]) -> Iterator[list[tuple[int, int]]]:
        for other in successors.get(path[-1], ()):
            if other == path[0]:
                yield list(zip(path, [*path[1:], other], strict=True))
            elif other > path[0] and other not in path:
                yield from extend([*path, other])

    for start in successors:
        yield from extend([start])


def _rank(location: Location, level: int) -> Term | None:
    """What is said to decrease in a loop that a location lies on."""
    ranks = location.loop.ranks if location.loop is not None else None
    terms = () if ranks is None else ranks.get(location, ())
    return terms[level] if level < len(terms) else None


def _parts(steps: dict[Transition, list[Term]]) -> list[dict[Transition, list[Term]]]:
    """The strongly connected parts of a thread's graph that some transitions make, with what is known of these."""
    places = list(dict.fromkeys(place for each in steps for place in (each.source, each.target)))
    numbers = {place: number for number, place in enumerate(places)}
    successors: list[list[int]] = [[] for _ in places]
    for each in steps:
        successors[numbers[each.source]].append(numbers[each.target])
    return [
        {each: facts for each, facts in steps.items() if {numbers[each.source], numbers[each.target]} <= part}
        for part in components(successors)
    ]


def components(successors: Sequence[Sequence[int]]) -> list[set[int]]:
    """The strongly connected components of a graph that have an edge inside (Tarjan's algorithm, without recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[set[int]] = []
    for root in range(len(successors)):
        if root in index:
            continue
        work = [(root, 0)]
        while work:
            node, position = work.pop()
            if position == 0:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
            elif (child := successors[node][position - 1]) in on_stack:
                low[node] = min(low[node], low[child])
            if position < len(successors[node]):
                work.append((node, position + 1))
                child = successors[node][position]
                if child not in index:
                    work.append((child, 0))
            elif low[node] == index[node]:
                component = [stack.pop()]
                while component[-1] != node:
                    component.append(stack.pop())
                on_stack.difference_update(component)
                if len(component) > 1 or node in successors[node]:
                    found.append(set(component))
    return found


def on_cycles(successors: Sequence[Sequence[int]]) -> list[int]:
    """The nodes of a graph that lie on some cycle."""
    return sorted(node for component in components(successors) for node in component)


class _Sections:
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

    def _path(self, section: Section) -> list[str]:
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

    def _values(self, section: Section) -> list[str]:
        """That the values and indices which events are said to have are theirs."""
        problems = []
        for number, event in enumerate(section.events):
            facts = Facts([*claims_of(self._model, self._nodes[event.node]), *step_facts(event.transition)])
            if not all(_can_be(variable, value) for variable, value in event.values.items()):
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

    def _order(self, section: Section) -> list[str]:
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


def _touches(event: Event) -> Iterator[tuple[Access, int | None]]:
    """What an event touches in the model, and which element of it."""
    yield from zip(event.transition.accesses, event.indices, strict=True)
    for ghost in event.transition.ghosts:
        yield ghost, None
