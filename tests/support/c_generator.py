"""What random C programs are made of: types, literals, expressions and structures.

Undefined behaviour is avoided by construction: signed arithmetic is done on operands that are reduced first, or in an
unsigned type; shifts and divisors are masked; variables are initialised; floats are converted to integers only when
these can hold them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


# ------------------------------------------------------------------------------------------------- types


@dataclass(frozen=True, slots=True)
class Scalar:
    """An arithmetic type. Ranks are those of C's conversions; a float has more than any integer."""

    name: str
    bits: int
    signed: bool
    rank: int
    floating: bool = False


BOOL = Scalar("_Bool", 1, False, 0)
INT, UINT = Scalar("int", 32, True, 3), Scalar("uint", 32, False, 3)
LONG, ULONG = Scalar("long", 64, True, 4), Scalar("ulong", 64, False, 4)
LLONG, ULLONG = Scalar("llong", 64, True, 5), Scalar("ullong", 64, False, 5)
NARROW = (
    Scalar("char", 8, True, 1), Scalar("schar", 8, True, 1), Scalar("uchar", 8, False, 1),
    Scalar("short", 16, True, 2), Scalar("ushort", 16, False, 2),
)  # fmt: skip
INTEGERS = (*NARROW, INT, UINT, LONG, ULONG, LLONG, ULLONG)
ALL_INTEGERS = (BOOL, *INTEGERS)
FLOAT, DOUBLE = Scalar("float", 32, True, 6, True), Scalar("double", 64, True, 7, True)
FLOATS = (FLOAT, DOUBLE)
_UNSIGNED = {INT: UINT, LONG: ULONG, LLONG: ULLONG}


def promoted(type_: Scalar) -> Scalar:
    return INT if type_.rank < INT.rank else type_


def common(left: Scalar, right: Scalar) -> Scalar:
    """The type of arithmetic on two operands."""
    if left.floating or right.floating:
        return max(left, right, key=lambda type_: type_.rank)
    left, right = promoted(left), promoted(right)
    if left.signed == right.signed:
        return max(left, right, key=lambda type_: type_.rank)
    unsigned, signed = (right, left) if left.signed else (left, right)
    if unsigned.rank >= signed.rank:
        return unsigned
    return signed if signed.bits > unsigned.bits else _UNSIGNED[signed]


@dataclass(frozen=True, slots=True)
class Expression:
    """C text, in parentheses where needed, and its type."""

    text: str
    type: Scalar


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar inside of an object: how to get there from the object's name, and its width if it is a bit-field."""

    path: str
    type: Scalar
    width: int | None = None


@dataclass(frozen=True, slots=True)
class Structure:
    name: str
    leaves: tuple[Leaf, ...]
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """`count`s are array bounds, outermost first."""

    name: str
    type: Scalar | Structure
    counts: tuple[int, ...] = ()
    width: int | None = None


# --------------------------------------------------------------------------------------------- generator


class Generator:
    """What all subjects are written with: random choices, names, literals, expressions and structures."""

    def __init__(self, r: random.Random, name: str, size: int) -> None:
        self.r = r
        self.name = name
        self.size = size
        self.outside: list[str] = []  # what comes before the function
        self.body: list[str] = []
        self.variables: list[Expression] = []
        self._count = 0

    def text(self) -> str:
        lines = [*self.outside, f"static void {self.name}(void) {{", *(f"    {line}" for line in self.body), "}"]
        return "\n".join(lines)

    def say(self, *lines: str) -> None:
        self.body += lines

    def fresh(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}_{self.name}"

    def chance(self, percent: int) -> bool:
        return self.r.random() * 100 < percent

    def pick(self, items: Sequence[T]) -> T:
        return self.r.choice(items)

    # -------------------------------------------------------------------------------------- numbers

    def number(self, type_: Scalar) -> int:
        """A value of an integer type, often one at an edge."""
        bits = type_.bits
        least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if type_.signed else (0, (1 << bits) - 1)
        edges = [least, least + 1, -1, 0, 1, 2, most // 2 + 1, most - 1, most]
        value = self.pick(edges) if self.chance(30) else self.r.getrandbits(self.r.randint(1, bits))
        if type_.signed and self.chance(50):
            value = -value
        return min(max(value, least), most)

    def literal(self, type_: Scalar, value: int | None = None) -> str:
        if type_.floating:
            return self.float_literal(type_)
        value = self.number(type_) if value is None else value
        if type_.rank < INT.rank:
            return f"(({type_.name}){value})"
        suffix = {INT: "", UINT: "u", LONG: "l", ULONG: "ul", LLONG: "ll", ULLONG: "ull"}[type_]
        if value == -(1 << (type_.bits - 1)):
            return f"({value + 1}{suffix} - 1)"
        return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"

    def float_literal(self, type_: Scalar) -> str:
        suffix = "f" if type_ is FLOAT else ""
        value = self.pick(
            ["0.0", "-0.0", "1.0", "0.1", "-2.5", "1e10", "3.402823e38", "1e-40", "16777217.0", "0.5", "-1e-3", "255.9"]
        )
        if self.chance(50):
            value = f"{self.r.uniform(-1000, 1000):.{self.r.randint(0, 9)}f}"
            value += "" if "." in value else ".0"
        return f"({value}{suffix})"

    def variable(self, type_: Scalar, value: str | None = None) -> str:
        """Declare a variable somewhere, and let expressions use it."""
        name = self.fresh("v")
        value = self.literal(type_) if value is None else value
        place = self.r.randrange(5)
        if place == 0:
            self.outside.append(f"{self.pick(['', 'static '])}{type_.name} {name} = {value};")
        elif place == 1:
            self.say(f"static {type_.name} {name} = {value};")
        elif place == 2:
            self.outside.append(f"static _Thread_local {type_.name} {name} = {value};")
        else:
            self.say(f"{self.pick(['', '', 'volatile '])}{type_.name} {name} = {value};")
        self.variables.append(Expression(name, type_))
        return name

    def index(self, value: int) -> str:
        """The same index as a constant, or as something that is only known when the program runs."""
        if self.chance(50):
            return str(value)
        name = self.fresh("i")
        type_ = self.pick([INT, UINT, LONG, ULONG, *NARROW])
        self.say(f"{type_.name} {name} = {value};")
        return name if self.chance(60) else f"{name} + 0"

    # ---------------------------------------------------------------------------------- expressions

    def expression(self, depth: int, floats: bool = False) -> Expression:
        if depth <= 0 or self.chance(10):
            candidates = [v for v in self.variables if floats or not v.type.floating]
            if candidates and self.chance(75):
                return self.pick(candidates)
            type_ = self.pick((*INTEGERS, *FLOATS) if floats else INTEGERS)
            return Expression(self.literal(type_), type_)
        make = self.pick(
            [
                self._arithmetic, self._arithmetic, self._bitwise, self._division, self._shift, self._comparison,
                self._logical, self._conditional, self._cast, self._unary, self._comma, self._call, self._assignment,
            ]
        )  # fmt: skip
        return make(depth, floats)

    def to_integer(self, value: Expression) -> Expression:
        """A float as an integer, if that is defined."""
        name = self.fresh("d")
        type_ = self.pick(INTEGERS)
        self.body.append(f"{value.type.name} {name} = {value.text};")
        most = float(1 << (type_.bits - type_.signed - 1))
        least = -most if type_.signed else 0
        return Expression(f"({name} > {least} && {name} < {most} ? ({type_.name}){name} : 7)", common(type_, INT))

    def _two(self, depth: int, floats: bool) -> tuple[Expression, Expression, Scalar]:
        left, right = self.expression(depth - 1, floats), self.expression(depth - 1, floats)
        return left, right, common(left.type, right.type)

    def _arithmetic(self, depth: int, floats: bool) -> Expression:
        left, right, type_ = self._two(depth, floats)
        op = self.pick("+-*")
        if type_.floating or not type_.signed:
            return Expression(f"({left.text} {op} {right.text})", type_)
        if self.chance(50):
            return Expression(f"(({left.text} % 1000) {op} ({right.text} % 999))", type_)
        unsigned = _UNSIGNED[type_]
        return Expression(f"({type_.name})(({unsigned.name}){left.text} {op} {right.text})", type_)

    def _bitwise(self, depth: int, floats: bool) -> Expression:
        left, right, type_ = self._two(depth, False)
        return Expression(f"({left.text} {self.pick('&|^')} {right.text})", type_)

    def _division(self, depth: int, floats: bool) -> Expression:
        left, right, type_ = self._two(depth, floats)
        if type_.floating:
            return Expression(f"({left.text} / {right.text})", type_)
        return Expression(f"({left.text} / 2 {self.pick('/%')} ({right.text} | 1))", type_)

    def _shift(self, depth: int, floats: bool) -> Expression:
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        type_ = promoted(left.type)
        amount = f"({right.text} & {type_.bits - 1})"
        if self.chance(50):
            return Expression(f"({left.text} >> {amount})", type_)
        if type_.signed:
            return Expression(f"({type_.name})(({_UNSIGNED[type_].name}){left.text} << {amount})", type_)
        return Expression(f"({left.text} << {amount})", type_)

    def _comparison(self, depth: int, floats: bool) -> Expression:
        left, right, _ = self._two(depth, floats)
        return Expression(f"({left.text} {self.pick(['<', '<=', '>', '>=', '==', '!='])} {right.text})", INT)

    def _logical(self, depth: int, floats: bool) -> Expression:
        left, right, _ = self._two(depth, floats)
        return Expression(f"({left.text} {self.pick(['&&', '||'])} {right.text})", INT)

    def _conditional(self, depth: int, floats: bool) -> Expression:
        left, right, type_ = self._two(depth, floats)
        condition = self.expression(depth - 1, floats)
        return Expression(f"({condition.text} ? {left.text} : {right.text})", type_)

    def _cast(self, depth: int, floats: bool) -> Expression:
        value = self.expression(depth - 1)
        type_ = self.pick((*ALL_INTEGERS, *FLOATS) if floats else ALL_INTEGERS)
        return Expression(f"({type_.name}){value.text}", type_)

    def _unary(self, depth: int, floats: bool) -> Expression:
        value = self.expression(depth - 1, floats)
        if value.type.floating:
            return (
                Expression(f"(-{value.text})", value.type) if self.chance(70) else Expression(f"(!{value.text})", INT)
            )
        op = self.pick("-~!+")
        type_ = promoted(value.type)
        if op == "!":
            return Expression(f"(!{value.text})", INT)
        if op == "-" and type_.signed:
            return Expression(f"(-({value.text} / 2))", type_)
        return Expression(f"({op}{value.text})", type_)

    def _comma(self, depth: int, floats: bool) -> Expression:
        left, right, _ = self._two(depth, floats)
        return Expression(f"({left.text}, {right.text})", right.type)

    def _call(self, depth: int, floats: bool) -> Expression:
        """By value through a function: narrow types are extended on the way."""
        type_ = self.pick(ALL_INTEGERS)
        function = self.fresh("same")
        self.outside.append(f"static {type_.name} {function}({type_.name} x) {{ return x; }}")
        return Expression(f"{function}({self.expression(depth - 1).text})", type_)

    def _assignment(self, depth: int, floats: bool) -> Expression:
        """To a variable that nothing else uses, so that it does not matter when."""
        type_ = self.pick(ALL_INTEGERS)
        name = self.fresh("t")
        self.outside.append(f"static {type_.name} {name};")
        return Expression(f"({name} = {self.expression(depth - 1).text})", type_)

    def update(self, target: str, type_: Scalar, width: int | None = None) -> str:
        """A statement that changes a scalar."""
        if type_.floating:
            if self.chance(20):
                return f"{target}{self.pick(['++', '--'])};"
            return f"{target} {self.pick(['=', '+=', '-=', '*='])} {self.literal(self.pick(FLOATS))};"
        choice = self.r.randrange(6)
        if type_ is BOOL or choice == 0:
            return f"{target} = {self.expression(2).text};"
        if choice == 1:
            return f"{target} {self.pick(['&=', '|=', '^='])} {self.expression(1).text};"
        if choice == 2 and (not type_.signed or type_.rank < INT.rank or (width or 99) < 31):
            return self.pick([f"{target}++;", f"++{target};", f"{target}--;", f"--{target};"])
        if choice == 3:
            return f"{target} >>= {self.r.randrange(min(width or 64, type_.bits))};"
        if choice == 4:
            return f"{target} {self.pick(['/=', '%='])} {self.r.randint(1, 100)};"
        if not type_.signed or type_.rank < INT.rank:
            return f"{target} {self.pick(['+=', '-=', '*='])} {self.r.randint(0, 100)};"
        return f"{target} = {self.literal(type_)};"

    def show(self, text: str, type_: Scalar) -> str:
        return f"{'SHOWF' if type_.floating else 'SHOW'}({text});"

    # ----------------------------------------------------------------------------------- structures

    def structure(self, depth: int = 2, most_fields: int = 5) -> Structure:
        """Define a structure type."""
        name = self.fresh("S")
        fields: list[Field] = []
        small = self.chance(40)
        favourites = [self.pick((*ALL_INTEGERS, *FLOATS)) for _ in range(2 if small else 6)]
        for number in range(self.r.randint(1, 3 if small else most_fields)):
            label = f"m{number}"
            kind = self.r.randrange(10)
            counts: tuple[int, ...] = ()
            if kind < 2 and depth > 0 and not small:
                if self.chance(50):
                    counts = (self.r.randint(1, 3),)
                fields.append(Field(label, self.structure(depth - 1, 3), counts))
            elif kind < 4 and not small:
                type_ = self.pick(ALL_INTEGERS)
                fields.append(Field(label, type_, width=self.r.randint(1, type_.bits)))
            else:
                counts = tuple(self.r.randint(1, 4) for _ in range(self.pick([0, 0, 0, 1, 1, 2])))
                fields.append(Field(label, self.pick(favourites), counts))
        members = "".join(f" {self._declare(field)}" for field in fields)
        if self.chance(10):
            members = members.replace("; ", "; int : 0; ", 1)
        attribute = self.pick(["", "", "", "", "", " __attribute__((packed))", " __attribute__((aligned(16)))"])
        if sum(field.width or 0 for field in fields) > 56:
            attribute = ""  # packed, they would be accessed with more than 64 bits, which is refused
        self.outside.append(f"struct {name} {{{members} }}{attribute};")
        return Structure(name, tuple(leaf for field in fields for leaf in _leaves(field)), tuple(fields))

    def _declare(self, field: Field) -> str:
        type_ = f"struct {field.type.name}" if isinstance(field.type, Structure) else field.type.name
        bounds = "".join(f"[{count}]" for count in field.counts)
        width = f" : {field.width}" if field.width is not None else ""
        return f"{type_} {field.name}{bounds}{width};"

    def initialiser(self, structure: Structure) -> str:
        """Values for some of the members, in braces; the others become zero."""
        chosen = [field for field in structure.fields if self.chance(80)] or list(structure.fields[:1])
        if self.chance(30):
            self.r.shuffle(chosen)
        designated = chosen != list(structure.fields[: len(chosen)])
        return "{" + ", ".join(self._member_value(field, designated) for field in chosen) + "}"

    def _member_value(self, field: Field, designated: bool) -> str:
        def value(counts: tuple[int, ...]) -> str:
            if counts:
                if self.chance(20):
                    return f"{{[{counts[0] - 1}] = {value(counts[1:])}}}"
                return "{" + ", ".join(value(counts[1:]) for _ in range(self.r.randint(1, counts[0]))) + "}"
            return self.initialiser(field.type) if isinstance(field.type, Structure) else self.literal(field.type)

        return f".{field.name} = {value(field.counts)}" if designated else value(field.counts)

    def path(self, leaf: Leaf) -> str:
        """The way to a leaf, with its indices in all kinds of clothes."""
        parts = leaf.path.split("[")
        return parts[0] + "".join(
            f"[{self.index(int(index))}]{rest}" for index, rest in (part.split("]", 1) for part in parts[1:])
        )

    def fill(self, target: str, structure: Structure) -> None:
        leaves = list(structure.leaves)
        self.r.shuffle(leaves)
        for leaf in leaves:
            self.say(f"{target}{self.path(leaf)} = {self.literal(leaf.type)};")

    def show_structure(self, target: str, structure: Structure) -> None:
        for leaf in structure.leaves:
            self.say(self.show(f"{target}{self.path(leaf)}", leaf.type))


def _leaves(field: Field) -> list[Leaf]:
    inner = field.type.leaves if isinstance(field.type, Structure) else (Leaf("", field.type, field.width),)
    places = [""]
    for count in field.counts:
        places = [f"{place}[{index}]" for place in places for index in range(count)]
    return [Leaf(f".{field.name}{place}{leaf.path}", leaf.type, leaf.width) for place in places for leaf in inner]
