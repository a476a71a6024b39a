"""What is known at the nodes of a tree: weakest preconditions, and how labels are made strong enough.

A tree is *well-labelled* at all times: the initial states satisfy the label of the root, and what holds at a node and
the transition to a child imply what holds at the child. So a fact goes into the label of a node together with its
weakest precondition in the label of the parent, and so on, up to where it is known already.

A fact need not be put into a label as it is. If it follows from the values that some variables have on this path, their
values will do. That is a *shortcut*: labels are simple then, and trees small, but labels say more than they have to,
which may be in the way of coverings. So it is kept with each fact whether there was a shortcut.
"""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from mazurka.constrained.impact.tree import TreeNode
from mazurka.constrained.model import Transition
from mazurka.constrained.model.solver import Solver
from mazurka.constrained.model.terms import (
    TRUE,
    Term,
    binary,
    compare,
    conjunction,
    constant,
    disjunction,
    negation,
    parts_first,
    substitute,
)

_TOO_LARGE = 100
_MUCH_TOO_LARGE = 1000
_INSTANCES = 16


class Labels:
    """`changed` collects the nodes whose labels have become stronger. `shortcuts`: whether to take them."""

    def __init__(self, solver: Solver, *, shortcuts: bool) -> None:
        self.solver = solver
        self.shortcuts = shortcuts
        self.changed: dict[TreeNode, None] = {}
        self._conditions: dict[tuple[Term, tuple[Term, ...]], Term] = {}

    # ---------------------------------------------------------------------------------------- at one node

    def at(self, node: TreeNode, term: Term) -> Term:
        """A term with the values that the explicit variables have at a node."""
        key = term, tuple(node.explicit.values())
        result = self._conditions.get(key)
        if result is None:
            result = self._conditions[key] = substitute(term, node.explicit)
        return result

    def knows(self, node: TreeNode, fact: Term) -> bool:
        """Whether a fact follows from the label. (A value that does not follow from the others is not looked for in
        labels with shortcuts: there is no harm in naming it.)"""
        if fact in node.label:
            return True
        fact = _with_values(fact, {known.args[0]: known.args[1] for known in node.label if _is_value(known)})
        if fact.is_constant or (self.shortcuts and _is_value(fact)):
            return fact.is_true
        return self.solver.implies(node.label, fact)

    def is_true_on_path(self, node: TreeNode, fact: Term) -> bool:
        """Whether a fact holds wherever the path from the root to this node can end."""
        return not node.feasible or self.solver.implies(node.path, substitute(fact, node.values))

    def is_possible(self, node: TreeNode, transition: Transition) -> bool:
        """Whether some state of the label can take a transition."""
        condition = self._taken(node, transition)
        return not condition.is_false and not self.solver.implies(node.label, negation(condition))

    def _taken(self, node: TreeNode, transition: Transition) -> Term:
        """When a transition is taken, with its inputs free."""
        ranges = [compare("ult", each.term, each.count) for each in transition.inputs]
        return self.at(node, conjunction([transition.condition, *ranges]))

    def never(self, node: TreeNode, transition: Transition) -> Term | None:
        """The states at a node that cannot take a transition, with any inputs. None: terms cannot say that."""
        return self._for_all_inputs(node, transition, negation(self._taken(node, transition)))

    # --------------------------------------------------------------------------------- strengthening labels

    def require(self, node: TreeNode, fact: Term, is_shortcut: bool = False) -> bool:
        """Make a fact that is true on the path to a node known there. False: terms cannot say what it follows from."""
        facts: dict[tuple[TreeNode, Term], bool] = {}
        waiting = [(node, fact, is_shortcut)]
        while waiting:
            current, fact, is_shortcut = waiting.pop()
            if self.shortcuts:
                values = self._values_for(current, fact)
                is_shortcut = is_shortcut or values is not fact
                fact = values
            if fact.op == "and":
                waiting += [(current, part, is_shortcut) for part in fact.args]
            elif (current, fact) not in facts and not self.knows(current, fact):
                facts[current, fact] = is_shortcut
                if current.parent is None:
                    assert self.is_true_on_path(current, fact), fact
                else:
                    before = self._before(current, fact)
                    if before is None:
                        return False
                    waiting.append((current.parent, before, is_shortcut))
        self._add(facts)
        return True

    def _values_for(self, node: TreeNode, fact: Term) -> Term:
        """A fact, or the values that its variables have on the path to a node, if it follows from them."""
        if _is_value(fact):
            return fact
        values = {
            variable: node.values[variable]
            for variable in sorted(fact.variables, key=lambda each: each.name)
            if variable.length is None and node.values[variable].is_constant
        }
        for element in _elements(substitute(fact, values)):
            value = substitute(element, node.values)
            if value.is_constant:
                values[element] = value
        if not node.feasible or not _with_values(fact, values).is_true:
            return fact
        for variable in list(values):  # no more of them than it takes
            fewer = {other: value for other, value in values.items() if other is not variable}
            if _with_values(fact, fewer).is_true:
                values = fewer
        return conjunction([_has_value(variable, value) for variable, value in values.items()])

    def derive(self, node: TreeNode, fact: Term, ancestor: TreeNode) -> bool:
        """Make a fact known at a node if it follows from the label of an ancestor and the path from there."""
        facts: dict[tuple[TreeNode, Term], bool] = {}
        current = node
        while not self.knows(current, fact):
            if current is ancestor or current.parent is None or _size(fact) > _MUCH_TOO_LARGE:
                return False
            facts[current, fact] = False
            before = self._before(current, fact)
            if before is None:
                return False
            fact = before
            current = current.parent
        self._add(facts)
        return True

    def _add(self, facts: dict[tuple[TreeNode, Term], bool]) -> None:
        for (node, fact), is_shortcut in facts.items():
            node.label[fact] = is_shortcut
            self.changed[node] = None

    def _before(self, node: TreeNode, fact: Term) -> Term | None:
        """What has to be known at the parent for a fact to be known at a node: its weakest precondition. A condition
        that says nothing about it, or makes it too large to be of much use, is left out where the fact holds anyway."""
        parent, transition = node.parent, node.transition
        assert parent is not None and transition is not None
        assigns = {variable.term: value for variable, value in transition.assigns.items()}
        after = self.at(parent, substitute(fact, assigns))
        condition = self._taken(parent, transition)
        result = _if_then(condition, after)
        has_inputs = not after.variables.isdisjoint(each.term for each in transition.inputs)
        is_simpler = result is after or _size(result) > _TOO_LARGE
        if is_simpler and not has_inputs and self.is_true_on_path(parent, after):
            return after
        if not self.is_true_on_path(parent, result):
            result = disjunction([negation(condition), after])
        return self._for_all_inputs(parent, transition, result)

    def _for_all_inputs(self, node: TreeNode, transition: Transition, fact: Term) -> Term | None:
        """Such states at a node that the fact holds for all inputs of a transition; none are lost on the path there.
        Terms have no quantifiers: what the fact says for a few inputs often implies the rest, first of all the least
        and the greatest. If not, the state is described by the values that it has on this path, where it has."""
        inputs = [each.term for each in transition.inputs if each.term in fact.variables]
        if not inputs:
            return fact
        least = {each.term: constant(0, each.term.width) for each in transition.inputs}
        greatest = {
            each.term: self.at(node, binary("sub", each.count, constant(1, each.term.width)))
            for each in transition.inputs
        }
        instances = [substitute(fact, least), substitute(fact, greatest)]
        if self.solver.implies((), fact):
            return TRUE
        for _ in range(_INSTANCES):
            values = self.solver.values([*instances, negation(fact)], inputs)
            if values is None:
                return conjunction(instances)
            tried = {each: constant(value, each.width) for each, value in zip(inputs, values, strict=True)}
            instances.append(substitute(fact, tried))
        known = {
            variable: node.values[variable]
            for variable in sorted(fact.variables.difference(inputs), key=lambda each: each.name)
            if variable.length is None and node.values[variable].is_constant
        }
        if not self.solver.implies((), substitute(fact, known)):
            return None
        for variable in list(known):  # no more of them than it takes
            fewer = {other: value for other, value in known.items() if other is not variable}
            if self.solver.implies((), substitute(fact, fewer)):
                known = fewer
        return conjunction([_has_value(variable, value) for variable, value in known.items()])


def _is_value(fact: Term) -> bool:
    return fact.op == "eq" and fact.args[1].is_constant and (fact.args[0].op == "variable" or _is_element(fact.args[0]))


def _is_element(term: Term) -> bool:
    """Whether a term is a certain element of an array."""
    return term.op == "select" and term.args[0].op == "variable" and term.args[1].is_constant


def _elements(term: Term) -> Iterator[Term]:
    if _is_element(term):
        yield term
    else:
        for arg in term.args:
            yield from _elements(arg)


def _with_values(term: Term, values: dict[Term, Term]) -> Term:
    """A term with the values of variables, and then of elements of arrays."""
    scalars = {each: value for each, value in values.items() if each.op == "variable"}
    elements = {each: value for each, value in values.items() if each.op == "select"}
    arrays = {each.args[0]: each.args[0] for each in elements}
    return substitute(substitute(term, scalars), {**arrays, **elements})


def _has_value(variable: Term, value: Term) -> Term:
    return compare("eq", variable, value)


def _if_then(condition: Term, fact: Term) -> Term:
    """If the condition holds, so does the fact. Parts of the condition that say nothing about the fact's variables,
    directly or through others, are left out."""
    parts = set(_parts("and", condition))
    reached = set(fact.variables)
    needed: list[Term] = []
    while near := [part for part in parts if not reached.isdisjoint(part.variables)]:
        parts.difference_update(near)
        needed += near
        for part in near:
            reached |= part.variables
    known = set(_parts("or", fact))
    if not known.isdisjoint(needed):
        return TRUE
    new = [negation(part) for part in sorted(needed, key=repr) if negation(part) not in known]
    return disjunction([*new, fact]) if new else fact


def _parts(op: str, term: Term) -> Iterator[Term]:
    if term.op == op and term.width == 1:
        for arg in term.args:
            yield from _parts(op, arg)
    else:
        yield term


def _size(term: Term) -> int:
    for part in parts_first(term, _sizes):
        _sizes[part] = 1 + sum(_sizes[arg] for arg in part.args)
    return _sizes[term]


_sizes: WeakKeyDictionary[Term, int] = WeakKeyDictionary()
