"""Values that are known along a proof: variables that are the same constant in all states of a node.

A forward data flow over the proof's graph finds them. As equalities in the labels they are inductive: they hold
initially, and each edge and each covering preserves them. With them, more conditions of transitions are known to be
false: those edges go, and with them branches, so that the sections of a schedule become longer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace

from mazurka.constrained.model import Model
from mazurka.constrained.model.terms import FALSE, TRUE, Term, compare, constant, substitute
from mazurka.constrained.proof import Edge, Proof, ProofNode

Constants = dict[Term, Term]  # from the term of a variable to a constant


def with_constants(proof: Proof) -> Proof:
    """The same proof with all known values in its labels, and without the edges and nodes that no state reaches."""
    known = _flow(proof)
    number = {old: new for new, old in enumerate(sorted(known))}
    nodes = []
    for old in sorted(known):
        node = proof.nodes[old]
        explicit = {name for name, _ in node.explicit}
        equalities = [compare("eq", term, value) for term, value in known[old].items() if term.name not in explicit]
        nodes.append(
            replace(
                node,
                number=number[old],
                label=tuple(dict.fromkeys([*node.label, *equalities])),
                edges=tuple(Edge(edge.transition, number[edge.target]) for edge in _possible(proof, node, known[old])),
                covered_by=None if node.covered_by is None else number[node.covered_by],
            )
        )
    return Proof(proof.model, tuple(nodes))


def constants_at(model: Model, node: ProofNode) -> Constants:
    """The values that a node's label and explicit values give directly."""
    known = {model.variables[name].term: value for name, value in node.explicit}
    constants = {term: constant(value, term.width) for term, value in known.items()}
    for fact in node.label:
        if fact.op == "variable":
            constants[fact] = TRUE
        elif fact.op == "xor" and fact.args[0].op == "variable" and fact.args[1] is TRUE:
            constants[fact.args[0]] = FALSE
        elif fact.op == "eq" and fact.args[0].op == "variable" and fact.args[1].is_constant:
            constants[fact.args[0]] = fact.args[1]
    return constants


def _flow(proof: Proof) -> dict[int, Constants]:
    """What is known at each node that is reached, as the greatest fixpoint."""
    initial: Constants = {
        variable.term: constant(variable.initial, variable.term.width)
        for variable in proof.model.variables.values()
        if isinstance(variable.initial, int)
    }
    known: dict[int, Constants] = {}
    pending: deque[int] = deque()

    def arrive(number: int, constants: Constants) -> None:
        own = constants_at(proof.model, proof.nodes[number])
        before = known.get(number)
        if before is None:
            known[number] = constants | own
        else:
            merged = {term: value for term, value in before.items() if constants.get(term) is value} | own
            if len(merged) == len(before):
                return
            known[number] = merged
        pending.append(number)

    arrive(0, initial)
    while pending:
        number = pending.popleft()
        node = proof.nodes[number]
        if node.covered_by is not None:
            arrive(node.covered_by, known[number])
        for edge in _possible(proof, node, known[number]):
            after = dict(known[number])
            for variable, value in edge.transition.assigns.items():
                result = substitute(value, known[number])
                after.pop(variable.term, None)
                if result.is_constant:
                    after[variable.term] = result
            arrive(edge.target, after)
    return known


def _possible(proof: Proof, node: ProofNode, known: Mapping[Term, Term]) -> list[Edge]:
    """The edges that some state with these values can take."""
    return [
        edge
        for edge in node.edges
        if FALSE not in proof.nodes[edge.target].label and not substitute(edge.transition.condition, known).is_false
    ]
