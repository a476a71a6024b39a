"""Questions about terms, answered by Z3: is a conjunction satisfiable, does it imply something.

Most questions never get there: constants fold when terms are made, and answers are remembered. Terms are translated
once. As "bits", integers are modulo 2**width; as "mathematical" ones they are unbounded: no operation wraps round,
which solvers like better, and is only right for programs whose operations do not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from time import monotonic
from typing import Any, Literal

import z3

from mazurka.constrained.model.terms import INDEX_WIDTH, TRUE, Term, negation, parts_first
from mazurka.errors import InputError
from mazurka.program.types import signed

Integers = Literal["bits", "mathematical"]

_RESOURCES = 10_000  # of Z3's units make a unit of work


class Interrupted(Exception):
    """`Solver.interrupt` was called."""


class TooHard(InputError):
    """The solver does not know the answer."""


class Solver:
    """`calls` and `seconds` count what Z3 was really asked, `work` how hard it was (the same in each run). Each solver
    has a context of its own, so that different ones can be used in different threads. `patience` is how much work may
    be done for an answer."""

    def __init__(self, integers: Integers = "bits", *, patience: int | None = None) -> None:
        self.integers = integers
        self.calls = 0
        self.seconds = 0.0
        self.work = 0.0
        context = z3.Context()
        self._translation = _Bits(context) if integers == "bits" else _Mathematical(context)
        self._answers: dict[frozenset[Term], bool] = {}
        self._solver = z3.Solver(ctx=context)
        self._solver.set("ctrl_c", False)  # what an interrupt means is for the program to say
        if patience is not None:
            self._solver.set("rlimit", patience * _RESOURCES)
        self._resources = 0  # of Z3's units, so far
        self._interrupted = False

    def interrupt(self) -> None:
        """Let the question that is being asked, if any, and all later ones end in `Interrupted`. From any thread."""
        self._interrupted = True
        self._solver.interrupt()

    def satisfiable(self, terms: Iterable[Term]) -> bool:
        """Whether some values of the variables make all of the terms true."""
        conjuncts = frozenset(_conjuncts(terms))
        if any(term.is_false or negation(term) in conjuncts for term in conjuncts):
            return False
        if not conjuncts:
            return True
        answer = self._answers.get(conjuncts)
        if answer is None:
            answer = self._answers[conjuncts] = self._ask(conjuncts) is not None
        return answer

    def implies(self, premises: Iterable[Term], conclusion: Term) -> bool:
        """Whether `conclusion` follows. Only premises that share variables with it, directly or through others, are
        looked at: that premises contradict each other is not noticed by itself."""
        if conclusion.is_true:
            return True
        if conclusion.op == "and" and conclusion.width == 1:
            premises = tuple(premises)
            return all(self.implies(premises, part) for part in conclusion.args)
        facts = set(_conjuncts(premises))
        if conclusion in facts or any(fact.is_false for fact in facts):
            return True
        relevant = _cone(facts, conclusion)
        return not self.satisfiable([*relevant, negation(conclusion)])

    def values(self, terms: Iterable[Term], wanted: Sequence[Term]) -> list[int] | None:
        """Values for `wanted` with which all terms can be true, if they can."""
        model = self._ask(frozenset(_conjuncts(terms)))
        if model is None:
            return None
        return [self._translation.read(model, term) for term in wanted]

    def _ask(self, conjuncts: Collection[Term]) -> Any:
        if self._interrupted:
            raise Interrupted
        began = monotonic()
        self.calls += 1
        self._solver.push()
        try:
            self._solver.add(*[self._translation.of(term) for term in conjuncts])
            answer = self._solver.check()
            resources = self._solver.statistics().get_key_value("rlimit count")
            self.work += 1 + (resources - self._resources) / _RESOURCES
            self._resources = resources
            if answer == z3.unknown:
                if self._interrupted:
                    raise Interrupted
                raise TooHard(
                    f"the solver gives up on a condition ({self._solver.reason_unknown()}): "
                    "the program's arithmetic is too hard for this engine"
                )
            return self._solver.model() if answer == z3.sat else None
        finally:
            self._solver.pop()
            self.seconds += monotonic() - began


def _conjuncts(terms: Iterable[Term]) -> Iterable[Term]:
    for term in terms:
        if term.op == "and" and term.width == 1:
            yield from _conjuncts(term.args)
        elif term is not TRUE:
            yield term


def _cone(facts: set[Term], conclusion: Term) -> list[Term]:
    """The facts that are connected with the conclusion through their variables."""
    reached = set(conclusion.variables)
    relevant: list[Term] = []
    waiting = list(facts)
    while True:
        near = [fact for fact in waiting if not reached.isdisjoint(fact.variables)]
        if not near:
            return relevant
        waiting = [fact for fact in waiting if reached.isdisjoint(fact.variables)]
        relevant += near
        for fact in near:
            reached |= fact.variables


class _Bits:
    """Conditions as Booleans, numbers as bit-vectors, arrays from bit-vectors to bit-vectors."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self._known: dict[Term, Any] = {}

    def of(self, term: Term) -> Any:
        for part in parts_first(term, self._known):
            self._known[part] = self.translate(part)
        return self._known[term]

    def read(self, model: Any, term: Term) -> int:
        value = model.eval(self.of(term), model_completion=True)
        return int(z3.is_true(value)) if term.width == 1 else int(value.as_long())

    def sort(self, term: Term) -> Any:
        number = z3.BoolSort(self.context) if term.width == 1 else self.numbers(term.width)
        return number if term.length is None else z3.ArraySort(self.numbers(INDEX_WIDTH), number)

    def numbers(self, width: int) -> Any:
        return z3.BitVecSort(width, self.context)

    def translate(self, term: Term) -> Any:
        args = [self.of(arg) for arg in term.args]
        match term.op:
            case "constant":
                if term.width == 1:
                    return z3.BoolVal(bool(term.value), self.context)
                return z3.BitVecVal(term.value, term.width, self.context)
            case "variable":
                return z3.Const(term.name, self.sort(term))
            case "ite":
                return z3.If(*args)
            case "select":
                return z3.Select(*args)
            case "store":
                return z3.Store(*args)
            case "array":
                return z3.K(self.numbers(INDEX_WIDTH), args[0])
            case "eq":
                return args[0] == args[1]
            case "zext" | "sext" | "trunc":
                bits = _as_bits(args[0], term.args[0].width)
                if term.op == "trunc":
                    return _from_bits(z3.Extract(term.width - 1, 0, bits), term.width)
                extra = term.width - term.args[0].width
                return z3.ZeroExt(extra, bits) if term.op == "zext" else z3.SignExt(extra, bits)
        if term.width == 1 and term.args[0].width == 1:
            match term.op:
                case "and" | "mul":
                    return z3.And(*args)
                case "or":
                    return z3.Or(*args)
                case "xor" | "add" | "sub":
                    return z3.Xor(*args)
        left, right = (_as_bits(arg, each.width) for arg, each in zip(args, term.args, strict=True))
        return _from_bits(_OPERATIONS[term.op](left, right), term.width)


def _as_bits(expression: Any, width: int) -> Any:
    if width == 1 and z3.is_bool(expression):
        context = expression.ctx
        return z3.If(expression, z3.BitVecVal(1, 1, context), z3.BitVecVal(0, 1, context))
    return expression


def _from_bits(expression: Any, width: int) -> Any:
    if width == 1 and not z3.is_bool(expression):
        return expression == z3.BitVecVal(1, 1, expression.ctx)
    return expression


_OPERATIONS: dict[str, Any] = {
    "add": lambda left, right: left + right,
    "sub": lambda left, right: left - right,
    "mul": lambda left, right: left * right,
    "udiv": z3.UDiv,
    "sdiv": lambda left, right: left / right,
    "urem": z3.URem,
    "srem": z3.SRem,
    "and": lambda left, right: left & right,
    "or": lambda left, right: left | right,
    "xor": lambda left, right: left ^ right,
    "shl": lambda left, right: left << right,
    "lshr": z3.LShR,
    "ashr": lambda left, right: left >> right,
    "ult": z3.ULT,
    "ule": z3.ULE,
    "slt": lambda left, right: left < right,
    "sle": lambda left, right: left <= right,
}


class _Mathematical(_Bits):
    """Numbers as integers. A constant stands for its signed value; a negative number, taken as unsigned, is above all
    others."""

    def read(self, model: Any, term: Term) -> int:
        value = model.eval(self.of(term), model_completion=True)
        return int(z3.is_true(value)) if term.width == 1 else int(value.as_long()) % (1 << term.width)

    def numbers(self, width: int) -> Any:
        return z3.IntSort(self.context)

    def translate(self, term: Term) -> Any:
        if term.op == "constant" and term.width > 1:
            return z3.IntVal(signed(term.value, term.width), self.context)
        if term.op in ("variable", "constant", "ite", "select", "store", "array", "eq"):
            return super().translate(term)
        if all(arg.width == 1 for arg in term.args) and term.op in ("and", "or", "xor"):
            return super().translate(term)
        args = [self.of(arg) for arg in term.args]
        if term.op in ("zext", "sext") and term.args[0].width == 1:
            one = 1 if term.op == "zext" else -1
            return z3.If(args[0], z3.IntVal(one, self.context), z3.IntVal(0, self.context))
        if any(arg.width == 1 for arg in term.args) or (term.width == 1 and term.op == "trunc"):
            raise self._refusal(term)
        match term.op:
            case "sext" | "trunc":
                return args[0]
            case "zext":
                return z3.If(args[0] < 0, args[0] + (1 << term.args[0].width), args[0])
            case "add" | "sub" | "mul" | "slt" | "sle":
                return _OPERATIONS[term.op](*args)
            case "ult" | "ule":
                less = args[0] < args[1] if term.op == "ult" else args[0] <= args[1]
                return z3.If((args[0] < 0) == (args[1] < 0), less, args[1] < 0)
        if term.args[1].is_constant:
            by = signed(term.args[1].value, term.args[1].width)
            match term.op:
                case "shl" if 0 <= by < term.width:
                    return args[0] * (1 << by)
                case "ashr" if 0 <= by < term.width:
                    return args[0] / (1 << by)
                case "and" if by >= 0 and by & (by + 1) == 0:
                    return args[0] % (by + 1)
                case "sdiv" if by > 0:
                    return z3.If(args[0] < 0, -((-args[0]) / by), args[0] / by)
                case "srem" if by > 0:
                    return z3.If(args[0] < 0, -((-args[0]) % by), args[0] % by)
        raise self._refusal(term)

    @staticmethod
    def _refusal(term: Term) -> InputError:
        return InputError(
            f"the operation '{term.op}' has no meaning for mathematical integers: use `--integers bits` for this one"
        )
