"""Terms: whatever their constructors simplify keeps its value, and means what SMT-LIB says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from mazurka.constrained.model import terms
from mazurka.constrained.model.terms import Term

WIDTHS = (1, 4, 8)
NUMBERS = {width: [terms.variable(f"n{width}{letter}", width) for letter in "ab"] for width in WIDTHS}
ARRAYS = [terms.variable(f"array{letter}", 8, 4) for letter in "ab"]
VARIABLES = {term.name: term for term in [*ARRAYS, *(term for group in NUMBERS.values() for term in group)]}

# A recipe makes a term out of what variables stand for: themselves, or constants.
Recipe = Callable[[Mapping[Term, Term]], Term]


def leaf(term: Term) -> Recipe:
    return lambda meaning: meaning.get(term, term)


def made(build: Callable[..., Term], *parts: Recipe) -> Recipe:
    return lambda meaning: build(*(part(meaning) for part in parts))


@st.composite
def recipes(draw: st.DrawFn, width: int, depth: int) -> Recipe:
    kinds = ["leaf"] if depth == 0 else ["leaf", "binary", "ite", "convert", "compare", "select"]
    kind = draw(st.sampled_from(kinds))

    def part(of: int) -> Recipe:
        return draw(recipes(of, depth - 1))

    if kind == "binary":
        op = draw(st.sampled_from(terms.BINARY))
        return made(lambda left, right: terms.binary(op, left, right), part(width), part(width))
    if kind == "ite":
        return made(terms.ite, part(1), part(width), part(width))
    if kind == "convert":
        other = draw(st.sampled_from([each for each in WIDTHS if each != width]))
        op = "trunc" if other > width else draw(st.sampled_from(["zext", "sext"]))
        return made(lambda term: terms.convert(op, term, width), part(other))
    if kind == "compare" and width == 1:
        op = draw(st.sampled_from(terms.COMPARISONS))
        of = draw(st.sampled_from(WIDTHS))
        return made(lambda left, right: terms.compare(op, left, right), part(of), part(of))
    if kind == "select" and width == 8:
        return made(terms.select, draw(arrays(depth - 1)), draw(indices(depth - 1)))
    return leaf(draw(st.sampled_from([*NUMBERS[width], terms.constant(draw(st.integers(0, 255)), width)])))


@st.composite
def indices(draw: st.DrawFn, depth: int) -> Recipe:
    small = made(lambda term: terms.binary("and", term, terms.constant(3, 4)), draw(recipes(4, depth)))
    return made(lambda term: terms.convert("zext", term, terms.INDEX_WIDTH), small)


@st.composite
def arrays(draw: st.DrawFn, depth: int) -> Recipe:
    if depth <= 0 or draw(st.booleans()):
        return leaf(draw(st.sampled_from(ARRAYS)))
    if draw(st.booleans()):
        return made(lambda element: terms.array(element, 4), draw(recipes(8, depth - 1)))
    return made(terms.store, draw(arrays(depth - 1)), draw(indices(depth - 1)), draw(recipes(8, depth - 1)))


VALUES = st.fixed_dictionaries(
    {term: st.integers(0, (1 << width) - 1) for width, group in NUMBERS.items() for term in group}
    | {term: st.lists(st.integers(0, 255), min_size=4, max_size=4) for term in ARRAYS}
)


def as_constants(values: Mapping[Term, int | Sequence[int]]) -> dict[Term, Term]:
    constants = {}
    for term, value in values.items():
        if isinstance(value, int):
            constants[term] = terms.constant(value, term.width)
        else:
            known = terms.array(terms.constant(0, term.width), len(value))
            for index, element in enumerate(value):
                known = terms.store(known, terms.constant(index, terms.INDEX_WIDTH), terms.constant(element, 8))
            constants[term] = known
    return constants


@given(st.sampled_from(WIDTHS).flatmap(lambda width: recipes(width, 4)), VALUES)
def test_simplifying_keeps_values(recipe: Recipe, values: dict[Term, int | Sequence[int]]) -> None:
    term, constants = recipe({}), as_constants(values)
    value = terms.evaluate(term, values)
    assert recipe(constants) is terms.constant(value, term.width)
    assert terms.substitute(term, constants) is terms.constant(value, term.width)


@given(st.sampled_from(WIDTHS).flatmap(lambda width: recipes(width, 4)))
def test_text_is_read_back(recipe: Recipe) -> None:
    term = recipe({})
    assert terms.parse(terms.render(term), VARIABLES) is term


def test_terms_may_nest_deeply() -> None:
    first, second = NUMBERS[8]
    term = first
    for _ in range(5000):
        term = terms.binary("xor", terms.binary("add", term, second), first)
    value = terms.evaluate(term, {first: 3, second: 4})
    assert terms.substitute(term, {first: terms.constant(3, 8), second: terms.constant(4, 8)}).value == value
    assert terms.render(term).count("add") == 5000


SMT: dict[str, Callable[[z3.BitVecRef, z3.BitVecRef], z3.ExprRef]] = {
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
    "eq": lambda a, b: a == b,
    "ult": z3.ULT,
    "ule": z3.ULE,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
}


@pytest.mark.parametrize("op", [*terms.BINARY, *terms.COMPARISONS])
def test_operations_mean_what_the_solver_means(op: str) -> None:
    build = terms.binary if op in terms.BINARY else terms.compare
    for left in range(16):
        for right in range(16):
            expected = z3.simplify(SMT[op](z3.BitVecVal(left, 4), z3.BitVecVal(right, 4)))
            number = expected.as_long() if z3.is_bv_value(expected) else int(z3.is_true(expected))
            assert build(op, terms.constant(left, 4), terms.constant(right, 4)).value == number, (left, right)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("(add x", "ends too early"),
        ("(add x x) x", "more after"),
        ("(plus x x)", "no operation is called 'plus'"),
        ("y", "no variable is called 'y'"),
        ("(add x (i8 1))", "does not fit"),
        ("(add x)", "does not fit"),
        ("(zext x x)", "where a number is expected"),
        ("(trunc 64 x)", "does not fit"),
        ("(i32 1 2)", "')' is missing"),
    ],
)
def test_bad_text_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem.replace("(", r"\(").replace(")", r"\)")):
        terms.parse(text, {"x": terms.variable("x", 32)})
