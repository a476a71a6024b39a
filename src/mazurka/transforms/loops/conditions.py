"""Conditions on registers, in disjunctive normal form: the language in which loops are found to be pure.

A *term* is an expression over registers and constants. A *conjunction* gives, for some terms, the set of values that
each must have; a *condition* is a list of them, one of which must hold: `[]` is false, `[{}]` is true. Sets of values
make `a >= 4 and a != 4` the same as `a > 4`, let contradictions vanish, and let two conjunctions that differ in one
term become one.

What the program does with an undefined value may be an error, so a condition that depends on one must be undefined
itself. That is why a term stays in a conjunction even when all values are allowed. And where some bits of a value are
undefined, `==` may know its result from the others, but `<` does not: see `ValueSet.strict`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast, get_args

from mazurka.program import instructions as ins
from mazurka.program.instructions import Constant, Instruction, Register, Value
from mazurka.program.types import I1, Float, Type, signed
from mazurka.transforms.simplify import DIVISIONS

# ---------------------------------------------------------------------------------------------- sets of values


@dataclass(frozen=True, slots=True)
class ValueSet:
    """Some of the numbers of `bits` bits: sorted ranges, first and last number, with gaps between them. `strict`:
    whether a number is among them counts as undefined if any bit of the number is undefined."""

    bits: int
    ranges: tuple[tuple[int, int], ...]
    strict: bool = field(default=False, compare=False)

    @staticmethod
    def of(bits: int, *ranges: tuple[int, int], strict: bool = False) -> ValueSet:
        """Ranges modulo 2**bits: one whose end is below its start goes round through zero."""
        size = 1 << bits
        pieces: list[tuple[int, int]] = []
        for first, last in ranges:
            if last - first >= size - 1:
                return ValueSet(bits, ((0, size - 1),), strict)
            first, last = first % size, last % size
            pieces += [(first, last)] if first <= last else [(0, last), (first, size - 1)]
        joined: list[tuple[int, int]] = []
        for first, last in sorted(pieces):
            if joined and first <= joined[-1][1] + 1:
                joined[-1] = joined[-1][0], max(last, joined[-1][1])
            else:
                joined.append((first, last))
        return ValueSet(bits, tuple(joined), strict)

    def __contains__(self, number: int) -> bool:
        return any(first <= number <= last for first, last in self.ranges)

    def __or__(self, other: ValueSet) -> ValueSet:
        return ValueSet.of(self.bits, *self.ranges, *other.ranges, strict=self.strict or other.strict)

    def __and__(self, other: ValueSet) -> ValueSet:
        common = [
            (max(first, start), min(last, end))
            for first, last in self.ranges
            for start, end in other.ranges
            if first <= end and start <= last
        ]
        return ValueSet(self.bits, tuple(common), self.strict or other.strict)

    def __invert__(self) -> ValueSet:
        gaps: list[tuple[int, int]] = []
        start = 0
        for first, last in self.ranges:
            if start < first:
                gaps.append((start, first - 1))
            start = last + 1
        if start < 1 << self.bits:
            gaps.append((start, (1 << self.bits) - 1))
        return ValueSet(self.bits, tuple(gaps), self.strict)

    def __le__(self, other: ValueSet) -> bool:
        return self.ranges == other.ranges or all(
            any(start <= first and last <= end for start, end in other.ranges) for first, last in self.ranges
        )

    @property
    def empty(self) -> bool:
        return not self.ranges

    @property
    def full(self) -> bool:
        return self.ranges == ((0, (1 << self.bits) - 1),)

    def plus(self, number: int) -> ValueSet:
        """Each number plus another, modulo 2**bits."""
        moved = ((first + number, last + number) for first, last in self.ranges)
        return ValueSet.of(self.bits, *moved, strict=self.strict)

    def subtracted_from(self, number: int) -> ValueSet:
        """Another number minus each, modulo 2**bits."""
        moved = ((number - last, number - first) for first, last in self.ranges)
        return ValueSet.of(self.bits, *moved, strict=self.strict)

    def strictly(self) -> ValueSet:
        return ValueSet(self.bits, self.ranges, strict=True)

    def arcs(self) -> list[tuple[int, int]]:
        """The ranges on the circle of the numbers modulo 2**bits: at most one goes round through zero, with an end
        below its start."""
        if len(self.ranges) > 1 and self.ranges[0][0] == 0 and self.ranges[-1][1] == (1 << self.bits) - 1:
            return [*self.ranges[1:-1], (self.ranges[-1][0], self.ranges[0][1])]
        return list(self.ranges)


TRUE = ValueSet.of(1, (1, 1))
FALSE = ValueSet.of(1, (0, 0))


def satisfying(predicate: str, number: int, bits: int) -> ValueSet:
    """The numbers n of which `n predicate number` holds."""
    lowest = 1 << (bits - 1)  # of the signed ones
    match predicate:
        case "eq":
            return ValueSet.of(bits, (number, number))
        case "ult":
            return ValueSet.of(bits, *([(0, number - 1)] if number else []))
        case "ule":
            return ValueSet.of(bits, (0, number))
        case "slt":
            return ValueSet.of(bits, *([(lowest, number - 1)] if number != lowest else []))
        case "sle":
            return ValueSet.of(bits, (lowest, number))
        case _:
            return ~satisfying(OPPOSITE[predicate], number, bits)


OPPOSITE = {
    "eq": "ne", "ne": "eq", "ult": "uge", "uge": "ult", "ule": "ugt", "ugt": "ule",
    "slt": "sge", "sge": "slt", "sle": "sgt", "sgt": "sle",
}  # fmt: skip
SWAPPED = {
    "eq": "eq", "ne": "ne", "ult": "ugt", "ugt": "ult", "ule": "uge", "uge": "ule",
    "slt": "sgt", "sgt": "slt", "sle": "sge", "sge": "sle",
}  # fmt: skip

# ------------------------------------------------------------------------------------------------------- terms


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the program on terms: that of a `Binary`, `Compare`, `Convert`, `Unary`, `Select` or `Offset`.
    `factors` are the scale and the displacement of an `Offset`."""

    op: str
    operands: tuple[Term, ...]
    type: Type
    factors: tuple[int, ...] = ()
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.op, self.operands, self.type, self.factors)))

    def __hash__(self) -> int:
        """Computed once: terms are keys, and contain each other."""
        return self._hash


Term = Value | Operation


def parts(term: Term) -> Iterator[Term]:
    """The term and all those in it."""
    yield term
    if isinstance(term, Operation):
        for operand in term.operands:
            yield from parts(operand)


def registers(term: Term) -> Iterator[Register]:
    return (part for part in parts(term) if isinstance(part, Register))


def computed(instruction: Instruction, term: Callable[[Value], Term]) -> Term | None:
    """What an instruction computes, if all it does is compute; `term` gives those of its operands."""
    if instruction.result is None:
        return None
    match instruction:
        case ins.Binary(op, left, right) if op not in DIVISIONS:
            return operation(op, (term(left), term(right)), instruction.result.type)
        case ins.Compare(predicate, left, right):
            return operation(predicate, (term(left), term(right)), I1)
        case ins.Convert(op, value) | ins.Unary(op, value):
            return operation(op, (term(value),), instruction.result.type)
        case ins.Select(condition, if_true, if_false):
            return operation("select", (term(condition), term(if_true), term(if_false)), instruction.result.type)
        case ins.Offset(base, index, scale, displacement):
            return Operation("offset", (term(base), term(index)), instruction.result.type, (scale, displacement))
        case _:
            return None


def operation(op: str, operands: tuple[Term, ...], type: Type, factors: tuple[int, ...] = ()) -> Operation | Term:
    """An operation on terms, computed at once where that is simple."""
    numbers = [_number(operand) for operand in operands]
    first = operands[0]
    match op, numbers:
        case (("zext" | "trunc" | "bitcast"), [int(number)]) if not isinstance(type, Float):
            return Constant(type, number % (1 << type.bits))
        case "sext", [int(number)]:
            return Constant(type, signed(number, first.type.bits) % (1 << type.bits))
        case (("add" | "sub" | "mul" | "and" | "or" | "xor"), [int(left), int(right)]):
            return Constant(type, _FOLD[op](left, right) % (1 << type.bits))
        case "select", [int(condition), _, _]:
            return operands[1] if condition else operands[2]
    if op == "bitcast" and isinstance(first, Operation) and first.op == "bitcast":
        inner = first.operands[0]
        return inner if inner.type == type else operation("bitcast", (inner,), type)
    if op == "trunc" and isinstance(first, Operation) and first.op in ("zext", "sext"):
        inner = first.operands[0]
        if inner.type == type:
            return inner
        if inner.type.bits != type.bits:
            return operation(first.op if inner.type.bits < type.bits else "trunc", (inner,), type)
    return Operation(op, operands, type, factors)


_FOLD: dict[str, Callable[[int, int], int]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "and": operator.and_, "or": operator.or_,
    "xor": operator.xor,
}  # fmt: skip


def instruction_for(operation: Operation, operands: list[Value], result: Register) -> Instruction:
    """The instruction that computes an operation on values: the inverse of `computed`."""
    op = operation.op
    if op == "select":
        return ins.Select(*operands, result=result)
    if op == "offset":
        base, index = operands
        return ins.Offset(base, index, *operation.factors, result=result)
    if op in _BINARY:
        left, right = operands
        return ins.Binary(cast(ins.BinaryOp, op), left, right, result=result)
    if op in _PREDICATES:
        return ins.Compare(cast(ins.Predicate, op), *operands, result=result)
    if op in _CONVERSIONS:
        return ins.Convert(cast(ins.ConvertOp, op), *operands, result=result)
    return ins.Unary(cast(ins.UnaryOp, op), *operands, result=result)


_BINARY, _PREDICATES, _CONVERSIONS = (frozenset(get_args(ops)) for ops in (ins.BinaryOp, ins.Predicate, ins.ConvertOp))


def substitute(term: Term, replacements: Mapping[Register, Term]) -> Term:
    """The term with other terms in place of some registers."""
    match term:
        case Register():
            return replacements.get(term, term)
        case Operation(op, operands, type, factors):
            replaced = tuple(substitute(operand, replacements) for operand in operands)
            return term if replaced == operands else operation(op, replaced, type, factors)
        case _:
            return term


def _number(term: Term) -> int | None:
    """The value of an integer constant."""
    if isinstance(term, Constant) and not term.undefined and isinstance(term.value, int):
        return None if isinstance(term.type, Float) else term.value
    return None


# -------------------------------------------------------------------------------------------------- conditions

Conjunction = Mapping[Term, ValueSet]
Condition = list[Conjunction]


def both(left: Conjunction, right: Conjunction) -> Conjunction | None:
    """Their conjunction, or None if it is a contradiction."""
    joined = dict(left)
    for term, values in right.items():
        joined[term] = joined[term] & values if term in joined else values
        if joined[term].empty:
            return None
    return joined


def conjoin(left: Iterable[Conjunction], right: Iterable[Conjunction]) -> Condition:
    right = list(right)
    return [joined for one in left for other in right if (joined := both(one, other)) is not None]


def is_case_of(left: Conjunction, right: Conjunction) -> bool:
    """Whether `left` adds nothing to `right`: it implies it, and is as strict at most."""
    return all(
        term in left and left[term] <= values and left[term].strict <= values.strict for term, values in right.items()
    )


def merged(left: Conjunction, right: Conjunction) -> Conjunction | None:
    """Their disjunction where that is a conjunction, too: if they differ in the values of one term."""
    if left.keys() != right.keys() or sum(left[term] != right[term] for term in left) > 1:
        return None
    return {term: left[term] | right[term] for term in left}


def equal(left: Term, right: Term) -> Condition:
    return holds(Operation("eq", (left, right), I1), TRUE)


def holds(term: Term, values: ValueSet) -> Condition:
    """The condition that a term has one of some values. It says so of the simplest term that tells."""
    if values.empty:
        return []
    if isinstance(term, Constant):
        number = _number(term)
        return [{}] if number is not None and number in values else []
    if isinstance(term, Operation):
        operands = term.operands
        numbers = [_number(operand) for operand in operands]
        match term.op, numbers:
            case (("and" | "or"), _) if term.type == I1 and not values.full:
                left, right = (holds(operand, values) for operand in operands)
                return conjoin(left, right) if (term.op == "and") == (values == TRUE) else left + right
            case "select", _:
                chosen, if_true, if_false = operands
                return [
                    *conjoin(holds(chosen, TRUE), holds(if_true, values)),
                    *conjoin(holds(chosen, FALSE), holds(if_false, values)),
                ]
            case "zext", _:
                return holds(operands[0], _narrowed(values, operands[0].type.bits))
            case "sext", _:
                half = 1 << (operands[0].type.bits - 1)
                return holds(operands[0], _narrowed(values.plus(half), operands[0].type.bits).plus(-half))
            case "bitcast", _ if not isinstance(operands[0].type, Float):
                return holds(operands[0], values)
            # An undefined bit spoils all those of a sum that are to the left of it.
            case "add", [_, int(number)]:
                return holds(operands[0], values.plus(-number).strictly())
            case "add", [int(number), _]:
                return holds(operands[1], values.plus(-number).strictly())
            case "sub", [_, int(number)]:
                return holds(operands[0], values.plus(number).strictly())
            case "sub", [int(number), _]:
                return holds(operands[1], values.subtracted_from(number).strictly())
            case "xor", [_, int(number)] if number == (1 << values.bits) - 1:
                return holds(operands[0], values.subtracted_from(number))
            case "xor", [int(number), _] if number == (1 << values.bits) - 1:
                return holds(operands[1], values.subtracted_from(number))
            case "and", [_, int(number)] | [int(number), _]:
                possible = values & ValueSet.of(values.bits, (0, number))
                return [] if possible.empty else [{term: possible}]
            case _ if term.op in OPPOSITE:
                return _compared(term.op, operands[0], operands[1], values)
    return [{term: values}]


def _compared(predicate: str, left: Term, right: Term, values: ValueSet) -> Condition:
    """The condition that a comparison of integers has one of some results."""
    if _number(left) is not None:
        predicate, left, right = SWAPPED[predicate], right, left
    if any(isinstance(side, Constant) and side.undefined for side in (left, right)):
        return []
    bits = left.type.bits
    number = _number(right)
    if number is not None:
        wanted = ~ValueSet.of(bits) if values.full else satisfying(predicate, number, bits)
        if predicate not in ("eq", "ne"):
            wanted = wanted.strictly()
        return holds(left, ~wanted if values == FALSE else wanted)
    # Of the predicates, eq, ult and slt are enough.
    if predicate in ("ugt", "sgt", "ule", "sle"):
        predicate, left, right = SWAPPED[predicate], right, left
    if predicate in ("ne", "uge", "sge"):
        predicate, values = OPPOSITE[predicate], values.subtracted_from(1)
    if left == right:
        return holds(left, ~ValueSet.of(bits)) if values == (TRUE if predicate == "eq" else FALSE) else []
    if predicate == "eq" and not values.full:
        for changed, same in ((left, right), (right, left)):
            difference = _difference(changed, same)
            if difference is not None:
                zero = ValueSet.of(bits, (0, 0), strict=True)
                defined = holds(same, ~ValueSet.of(bits))
                return conjoin(defined, holds(difference, zero if values == TRUE else ~zero))
    return [{Operation(predicate, (left, right), I1): values}]


def _difference(changed: Term, same: Term) -> Term | None:
    """What was added to `same` in order to get `changed`."""
    match changed:
        case Operation("add", (left, right)) if same in (left, right):
            return right if left == same else left
        case Operation("sub", (left, right)) if left == same:
            return right
        case Operation("offset", (base, index), _, (scale, displacement)) if base == same:
            number = _number(index)
            return None if number is None else Constant(index.type, (number * scale + displacement) % (1 << 64))
        case _:
            return None


def _narrowed(values: ValueSet, bits: int) -> ValueSet:
    """The numbers among them that have only `bits` bits."""
    possible = values & ValueSet.of(values.bits, (0, (1 << bits) - 1))
    return ValueSet(bits, possible.ranges, values.strict)
