"""Expressions over bit-vectors and arrays: what transitions compute, what labels of abstract states say.

A term is immutable and made once: equal terms are the same object. Integers are unsigned, modulo 2**width; a condition
is a term of width 1. The constructors fold constants, so that a term without variables is a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import Any, Final
from weakref import WeakValueDictionary

from mazurka.program.types import signed

# An array's width is that of its elements; its `length` tells it from a number. Indices have this width.
INDEX_WIDTH: Final = 64

_WIDEST: Final = 4096  # bits of a number that is read from a file

BINARY: Final = (
    "add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "and", "or", "xor", "shl", "lshr", "ashr",
)  # fmt: skip
COMPARISONS: Final = ("eq", "ult", "ule", "slt", "sle")
CONVERSIONS: Final = ("zext", "sext", "trunc")


class Term:
    """`op` is "constant" (of `value`), "variable" (called `name`), one of `BINARY`, `COMPARISONS` or `CONVERSIONS`,
    "ite" (condition, then, else), "select" (array, index), "store" (array, index, element), "array" (all elements are
    the argument). Division by zero gives what SMT-LIB says, shifts by too much give 0 (or the sign)."""

    __slots__ = ("__weakref__", "args", "length", "name", "op", "value", "variables", "width")

    op: str
    args: tuple[Term, ...]
    width: int
    length: int | None
    value: int
    name: str
    variables: frozenset[Term]

    def __repr__(self) -> str:
        return render(self)

    def __reduce__(self) -> tuple[Callable[..., Term], tuple[object, ...]]:
        return _make, (self.op, self.args, self.width, self.length, self.value, self.name)

    @property
    def is_constant(self) -> bool:
        return self.op == "constant"

    @property
    def is_true(self) -> bool:
        return self is TRUE

    @property
    def is_false(self) -> bool:
        return self is FALSE


_Key = tuple[str, tuple[int, ...], int, int | None, int, str]
_made: WeakValueDictionary[_Key, Term] = WeakValueDictionary()


def _make(op: str, args: Sequence[Term], width: int, length: int | None = None, value: int = 0, name: str = "") -> Term:
    args = tuple(args)
    key = (op, tuple(map(id, args)), width, length, value, name)
    term = _made.get(key)
    if term is None:
        term = Term()
        term.op, term.args, term.width, term.length, term.value, term.name = op, args, width, length, value, name
        if op == "variable":
            term.variables = frozenset((term,))
        else:
            term.variables = frozenset().union(*(arg.variables for arg in args))
        _made[key] = term
    return term


# --------------------------------------------------------------------------------------------- making terms


def constant(value: int, width: int) -> Term:
    return _make("constant", (), width, value=value & ((1 << width) - 1))


def variable(name: str, width: int, length: int | None = None) -> Term:
    return _make("variable", (), width, length, name=name)


TRUE: Final = constant(1, 1)
FALSE: Final = constant(0, 1)


def binary(op: str, left: Term, right: Term) -> Term:
    assert op in BINARY and left.width == right.width and left.length is None is right.length, (op, left, right)
    width = left.width
    if left.is_constant and right.is_constant:
        return constant(_FOLD[op](left.value, right.value, width), width)
    ones = (1 << width) - 1
    if op in ("and", "or", "xor", "add", "mul") and left.is_constant:
        left, right = right, left
    if right.is_constant:
        known = right.value
        if known == 0:
            if op in ("add", "sub", "or", "xor", "shl", "lshr", "ashr"):
                return left
            if op in ("and", "mul"):
                return right
        if known == ones and op == "and":
            return left
        if known == ones and op == "or":
            return right
        if known == 1 and op in ("mul", "udiv"):
            return left
        if op == "sub":
            return binary("add", left, constant(-known, width))
        if op == "add" and left.op == "add" and left.args[1].is_constant:
            return binary("add", left.args[0], constant(left.args[1].value + known, width))
        if op == "xor" and width == 1:
            return _negate(left)
    if left is right:
        if op in ("and", "or"):
            return left
        if op in ("sub", "xor"):
            return constant(0, width)
    if width == 1 and op in ("and", "or"):
        for one, other in ((left, right), (right, left)):
            if one.op == "xor" and one.args[0] is other and one.args[1] is TRUE:
                return FALSE if op == "and" else TRUE
    return _make(op, (left, right), width)


def compare(op: str, left: Term, right: Term) -> Term:
    """ "eq", "ult", "ule", "slt" or "sle". For the others, exchange the operands or negate."""
    assert op in COMPARISONS and left.width == right.width and left.length == right.length, (op, left, right)
    if left is right:
        return TRUE if op in ("eq", "ule", "sle") else FALSE
    if left.is_constant and right.is_constant:
        return constant(_FOLD[op](left.value, right.value, left.width), 1)
    if op == "eq":
        if left.is_constant:
            left, right = right, left
        if right.is_constant:
            if left.width == 1:
                return left if right.value else _negate(left)
            if left.op == "zext":
                small = left.args[0]
                if right.value >> small.width:
                    return FALSE
                return compare("eq", small, constant(right.value, small.width))
            if left.op == "ite" and left.args[1].is_constant and left.args[2].is_constant:
                return ite(left.args[0], compare(op, left.args[1], right), compare(op, left.args[2], right))
            if left.op == "add" and left.args[1].is_constant:
                return compare("eq", left.args[0], constant(right.value - left.args[1].value, left.width))
    if op == "ult" and right.is_constant and right.value == 0:
        return FALSE
    if op == "ule" and left.is_constant and left.value == 0:
        return TRUE
    return _make(op, (left, right), 1)


def _negate(condition: Term) -> Term:
    if condition.is_constant:
        return FALSE if condition.value else TRUE
    if condition.op == "xor" and condition.args[1] is TRUE:
        return condition.args[0]
    return _make("xor", (condition, TRUE), 1)


def negation(condition: Term) -> Term:
    assert condition.width == 1
    return _negate(condition)


def conjunction(conditions: Sequence[Term]) -> Term:
    return reduce(partial(binary, "and"), conditions, TRUE)


def disjunction(conditions: Sequence[Term]) -> Term:
    return reduce(partial(binary, "or"), conditions, FALSE)


def convert(op: str, term: Term, width: int) -> Term:
    """ "zext", "sext" or "trunc" to another width."""
    assert op in CONVERSIONS and term.length is None
    if width == term.width:
        return term
    assert (width < term.width) == (op == "trunc"), (op, term, width)
    if term.is_constant:
        return constant(signed(term.value, term.width) if op == "sext" else term.value, width)
    if op == "trunc" and term.op in ("zext", "sext"):
        small = term.args[0]
        if small.width >= width:
            return convert("trunc", small, width)
        return convert(term.op, small, width)
    if op == term.op:
        return convert(op, term.args[0], width)
    return _make(op, (term,), width)


def ite(condition: Term, if_true: Term, if_false: Term) -> Term:
    assert condition.width == 1 and if_true.width == if_false.width and if_true.length == if_false.length
    if condition.is_constant:
        return if_true if condition.value else if_false
    if if_true is if_false:
        return if_true
    if if_true.width == 1 and if_true.length is None:
        if if_true.is_constant:
            return binary("or", condition, if_false) if if_true.value else binary("and", _negate(condition), if_false)
        if if_false.is_constant:
            return binary("or", _negate(condition), if_true) if if_false.value else binary("and", condition, if_true)
    return _make("ite", (condition, if_true, if_false), if_true.width, if_true.length)


def array(element: Term, length: int) -> Term:
    """An array all elements of which are equal."""
    return _make("array", (element,), element.width, length)


def select(source: Term, index: Term) -> Term:
    assert source.length is not None and index.width == INDEX_WIDTH
    while source.op == "store":
        same = compare("eq", source.args[1], index)
        if same.is_true:
            return source.args[2]
        if not same.is_false:
            break
        source = source.args[0]
    if source.op == "array":
        return source.args[0]
    return _make("select", (source, index), source.width)


def store(target: Term, index: Term, element: Term) -> Term:
    assert target.length is not None and index.width == INDEX_WIDTH and element.width == target.width
    if target.op == "store" and target.args[1] is index:
        target = target.args[0]
    return _make("store", (target, index, element), target.width, target.length)


def apply(op: str, args: Sequence[Term], size: int) -> Term:
    """An operation, by its name. `size` is the width that a conversion gives, or the length of an array."""
    if op in BINARY:
        return binary(op, *args)
    if op in COMPARISONS:
        return compare(op, *args)
    if op in CONVERSIONS:
        return convert(op, args[0], size)
    if op == "ite":
        return ite(*args)
    if op == "select":
        return select(*args)
    if op == "store":
        return store(*args)
    if op == "array":
        return array(args[0], size)
    raise ValueError(f"no operation is called '{op}'")


def remake(term: Term, args: Sequence[Term]) -> Term:
    """The same operation on other arguments, simplified."""
    return apply(term.op, args, term.length or term.width) if args else term


# ------------------------------------------------------------------------------------------- working with terms


def parts_first(term: Term, known: Container[Term]) -> Iterator[Term]:
    """A term and all terms in it, each after its arguments, but for those that are `known`: whoever asks adds each one
    to these. Terms can nest deeper than functions can call themselves."""
    pending = [term]
    while pending:
        current = pending[-1]
        missing = () if current in known else [arg for arg in current.args if arg not in known]
        if missing:
            pending += missing
        else:
            pending.pop()
            if current not in known:
                yield current


def substitute(term: Term, replacements: Mapping[Term, Term]) -> Term:
    """Replace variables, all at once."""
    if term in replacements:
        return replacements[term]
    names = replacements.keys()
    if names.isdisjoint(term.variables):
        return term
    made: dict[Term, Term] = {}
    pending = [term]
    while pending:
        current = pending[-1]
        args: list[Term] = []
        for arg in current.args:
            new = replacements.get(arg) or made.get(arg)
            if new is None and not names.isdisjoint(arg.variables):
                pending.append(arg)
            else:
                args.append(new or arg)
        if len(args) == len(current.args):
            pending.pop()
            made[current] = remake(current, args)
    return made[term]


def evaluate(term: Term, values: Mapping[Term, int | Sequence[int]]) -> int:
    """The value of a number or condition where all of its variables have values (arrays: all of their elements). An
    index beyond an array reads 0."""
    value = _meaning(term, values)
    assert isinstance(value, int)
    return value


def evaluate_array(term: Term, values: Mapping[Term, int | Sequence[int]]) -> Sequence[int]:
    """The elements of an array where all of its variables have values."""
    elements = _meaning(term, values)
    assert not isinstance(elements, int)
    return elements


def _meaning(term: Term, values: Mapping[Term, int | Sequence[int]]) -> int | Sequence[int]:
    known: dict[Term, Any] = {}
    for part in parts_first(term, known):
        if part.op == "constant":
            known[part] = part.value
        elif part.op == "variable":
            known[part] = values[part]
        else:
            known[part] = _applied(part, [known[arg] for arg in part.args])
    result: int | Sequence[int] = known[term]
    return result


def _applied(term: Term, args: list[Any]) -> int | list[int]:
    """What a term means if its arguments mean this."""
    match term.op:
        case "ite":
            chosen: int | list[int] = args[1] if args[0] else args[2]
            return chosen
        case "array":
            assert term.length is not None
            return [args[0]] * term.length
        case "store":
            elements = list(args[0])
            if args[1] < len(elements):
                elements[args[1]] = args[2]
            return elements
        case "select":
            return int(args[0][args[1]]) if args[1] < len(args[0]) else 0
        case "zext" | "sext" | "trunc":
            value = signed(args[0], term.args[0].width) if term.op == "sext" else args[0]
            return int(value & ((1 << term.width) - 1))
    return _FOLD[term.op](args[0], args[1], term.args[0].width) & ((1 << term.width) - 1)


def _quotient(left: int, right: int, width: int) -> int:
    """Rounded towards zero."""
    left, right = signed(left, width), signed(right, width)
    if right == 0:
        return 1 if left < 0 else -1
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int, right: int, width: int) -> int:
    left, right = signed(left, width), signed(right, width)
    rest = abs(left) % abs(right) if right else abs(left)
    return rest if left >= 0 else -rest


# What operations give for constants, before that is cut to their width.
_FOLD: Final[dict[str, Callable[[int, int, int], int]]] = {
    "add": lambda left, right, width: left + right,
    "sub": lambda left, right, width: left - right,
    "mul": lambda left, right, width: left * right,
    "udiv": lambda left, right, width: left // right if right else -1,
    "urem": lambda left, right, width: left % right if right else left,
    "sdiv": _quotient,
    "srem": _remainder,
    "and": lambda left, right, width: left & right,
    "or": lambda left, right, width: left | right,
    "xor": lambda left, right, width: left ^ right,
    "shl": lambda left, right, width: left << right if right < width else 0,
    "lshr": lambda left, right, width: left >> right if right < width else 0,
    "ashr": lambda left, right, width: signed(left, width) >> min(right, width - 1),
    "eq": lambda left, right, width: left == right,
    "ult": lambda left, right, width: left < right,
    "ule": lambda left, right, width: left <= right,
    "slt": lambda left, right, width: signed(left, width) < signed(right, width),
    "sle": lambda left, right, width: signed(left, width) <= signed(right, width),
}


# ---------------------------------------------------------------------------------------------------- text


def render(term: Term) -> str:
    """As an S-expression: `(add count (i32 1))`, `(zext 64 x)`, `(array 10 (i32 0))`. `parse` reads it back."""
    texts: dict[Term, str] = {}
    for part in parts_first(term, texts):
        if part.op == "constant":
            boolean = "true" if part.value else "false"
            texts[part] = boolean if part.width == 1 else f"(i{part.width} {part.value})"
        elif part.op == "variable":
            texts[part] = part.name
        else:
            extra = [str(part.width)] if part.op in CONVERSIONS else [str(part.length)] if part.op == "array" else []
            texts[part] = f"({' '.join([part.op, *extra, *(texts[arg] for arg in part.args)])})"
    return texts[term]


def parse(text: str, variables: Mapping[str, Term]) -> Term:
    """Read what `render` wrote. A `ValueError` says what is wrong."""
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()
    position = 0

    def take() -> str:
        nonlocal position
        if position == len(tokens):
            raise ValueError("the term ends too early")
        position += 1
        return tokens[position - 1]

    def number() -> int:
        token = take()
        if not token.isdigit():
            raise ValueError(f"'{token}' where a number is expected")
        return int(token)

    def width(bits: int) -> int:
        if not 0 < bits <= _WIDEST:
            raise ValueError(f"no number has {bits} bits")
        return bits

    def read() -> Term:
        token = take()
        if token in ("true", "false"):
            return TRUE if token == "true" else FALSE
        if token != "(":
            if token not in variables:
                raise ValueError(f"no variable is called '{token}'")
            return variables[token]
        op = take()
        if op[:1] == "i" and op[1:].isdigit():
            bits = width(int(op[1:]))
            result = constant(number(), bits)
            close()
            return result
        extra = number() if op in CONVERSIONS or op == "array" else 0
        args = []
        while position < len(tokens) and tokens[position] != ")":
            args.append(read())
        close()
        return build(op, extra, args)

    def close() -> None:
        if take() != ")":
            raise ValueError("a ')' is missing")

    def build(op: str, extra: int, args: list[Term]) -> Term:
        try:
            return apply(op, args, width(extra) if op in CONVERSIONS else extra)
        except (AssertionError, TypeError, IndexError):
            raise ValueError(f"'{op}' does not fit its arguments") from None

    result = read()
    if position != len(tokens):
        raise ValueError("there is more after the term")
    return result
