"""Whether facts about states imply others: the checker's own way to ask the solver."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import z3

from mazurka.constrained.model import Model, StateVariable, Transition
from mazurka.constrained.model.terms import FALSE, INDEX_WIDTH, Term, compare, constant, parts_first, substitute
from mazurka.constrained.proof import ProofNode

# How long the solver may think about one question, in milliseconds. What it cannot prove then counts as wrong.
_PATIENCE = 60_000


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
        for part in parts_first(term, self._made):
            self._made[part] = _formula(part, [self._made[arg] for arg in part.args])
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


def claims_of(model: Model, node: ProofNode) -> list[Term]:
    """All that a node says of its states."""
    explicit = [(model.variables[name].term, value) for name, value in node.explicit]
    return [compare("eq", term, constant(value, term.width)) for term, value in explicit] + list(node.label)


def step_facts(transition: Transition) -> list[Term]:
    """What holds in a state in which the transition is taken."""
    inputs = [compare("ult", entry.term, entry.count) for entry in transition.inputs]
    return [*inputs, transition.condition]


def can_be(variable: StateVariable, value: int) -> bool:
    return not variable.is_array and 0 <= value < 1 << variable.term.width
