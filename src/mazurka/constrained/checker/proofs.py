"""That a proof is inductive, safe, free of deadlocks and fair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from mazurka.constrained.checker.prover import Facts, Prover, can_be, claims_of, step_facts
from mazurka.constrained.graphs import components
from mazurka.constrained.model import Location, Model, Transition
from mazurka.constrained.model.terms import (
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
from mazurka.constrained.proof import Proof, ProofNode
from mazurka.machine.layout import address_of


class ProofCheck:
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

    def _say(self, node: ProofNode, problem: str) -> None:
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
                if name not in model.variables or not can_be(model.variables[name], value):
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

    def _covering(self, node: ProofNode, other: ProofNode) -> None:
        if node.locations != other.locations:
            self._say(node, f"it is covered by node {other.number}, which is at other locations")
        for fact in self._claims[other.number]:
            if not self._prover.implies(self._facts[node.number], fact):
                self._say(node, f"it is covered by node {other.number}, but may not satisfy {fact}")

    def _expansion(self, node: ProofNode) -> None:
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

    def _circles(self, node: ProofNode) -> None:
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

    def _edge(self, node: ProofNode, transition: Transition, target: ProofNode) -> None:
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

    def _facts_during(self, node: ProofNode, transition: Transition) -> Facts:
        return Facts([*self._claims[node.number], *step_facts(transition)])

    def _has_ended(self, node: ProofNode) -> bool:
        rests = [location.rest for location in node.locations]
        if "return" in rests and self._nobody_can_go_on(node):
            return True
        return "failed" not in rests and ("exit" in rests or None not in rests)

    def _nobody_can_go_on(self, node: ProofNode) -> bool:
        able = (location.enabled for location in node.locations if location.rest is None)
        return all(self._prover.implies(self._facts[node.number], negation(enabled)) for enabled in able)

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
