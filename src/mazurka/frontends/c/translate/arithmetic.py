"""LLVM's intrinsics that only compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from mazurka.frontends.c.llvm.syntax import leaves
from mazurka.frontends.c.translate.translator import Builtin, CallSite, Translator, constant_of
from mazurka.program import instructions as ins
from mazurka.program.instructions import Constant, Value
from mazurka.program.types import I1, Float, Int


def _number(value: Value, number: int) -> Constant:
    """A constant of the type of a value."""
    return Constant(value.type, number % (1 << value.type.bits))


def _unary(op: ins.UnaryOp) -> Builtin:
    def unary(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
        return [t.compute(arguments[0].type, ins.Unary(op, arguments[0]))]

    return unary


def _pick(predicate: ins.Predicate) -> Builtin:
    """The first of two integers if the predicate holds between them, else the second."""

    def pick(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
        left, right = arguments
        return [t.select(t.compare(predicate, left, right), left, right)]

    return pick


def _pick_float(predicate: ins.Predicate) -> Builtin:
    """The same for floats; where one is not a number, the other."""

    def pick(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
        left, right = arguments
        condition = t.binary("or", t.compare(predicate, left, right), t.compare("funo", right, right))
        return [t.select(condition, left, right)]

    return pick


def _abs(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    value, must_fit = arguments
    zero = _number(value, 0)
    negated = t.compute(value.type, ins.Binary("sub", zero, value, bool(constant_of(must_fit)) and t.checks_overflow))
    return [t.select(t.compare("slt", value, zero), negated, value)]


def _three_way(less: ins.Predicate) -> Builtin:
    def three_way(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
        left, right = arguments
        ((_, type_),) = leaves(site.returns)
        below, above = t.compare(less, left, right), t.compare(less, right, left)
        return [t.select(below, Constant(type_, (1 << type_.bits) - 1), t.compute(type_, ins.Convert("zext", above)))]

    return three_way


def _funnel(left_shift: bool) -> Builtin:
    """Shift the pair of two integers; shifts by their whole width give 0."""

    def funnel(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
        high, low, amount = arguments
        width = _number(amount, amount.type.bits)
        distance = t.binary("urem", amount, width)
        rest = t.binary("sub", width, distance)
        up, down = (distance, rest) if left_shift else (rest, distance)
        return [t.binary("or", t.binary("shl", high, up), t.binary("lshr", low, down))]

    return funnel


def _overflow(t: Translator, op: str, left: Value, right: Value) -> tuple[Value, Value]:
    """The result of an operation, and whether it does not fit."""
    result = t.binary(cast(ins.BinaryOp, op[1:]), left, right)
    zero, one = _number(left, 0), _number(left, 1)
    match op:
        case "uadd":
            return result, t.compare("ult", result, left)
        case "usub":
            return result, t.compare("ult", left, right)
        case "sadd":
            flipped = t.binary("and", t.binary("xor", left, result), t.binary("xor", right, result))
            return result, t.compare("slt", flipped, zero)
        case "ssub":
            flipped = t.binary("and", t.binary("xor", left, right), t.binary("xor", left, result))
            return result, t.compare("slt", flipped, zero)
        case "umul":
            is_zero = t.compare("eq", left, zero)
            quotient = t.binary("udiv", result, t.select(is_zero, one, left))
            return result, t.select(is_zero, Constant(I1, 0), t.compare("ne", quotient, right))
    # smul: dividing the least integer by -1 would overflow as well
    minus_one, least = _number(left, -1), _number(left, 1 << (left.type.bits - 1))
    is_zero, is_minus_one = t.compare("eq", left, zero), t.compare("eq", left, minus_one)
    divisor = t.select(t.binary("or", is_zero, is_minus_one), one, left)
    other = t.compare("ne", t.binary("sdiv", result, divisor), right)
    negated = t.select(is_minus_one, t.compare("eq", right, least), other)
    return result, t.select(is_zero, Constant(I1, 0), negated)


def _with_overflow(op: str) -> Builtin:
    def with_overflow(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
        return _overflow(t, op, *arguments)

    return with_overflow


def _saturating(op: str) -> Builtin:
    def saturating(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
        left, right = arguments
        result, overflow = _overflow(t, op, left, right)
        if op[0] == "u":
            limit: Value = _number(left, -1 if op == "uadd" else 0)
        else:
            least = 1 << (left.type.bits - 1)
            limit = t.select(t.compare("slt", left, _number(left, 0)), _number(left, least), _number(left, least - 1))
        return [t.select(overflow, limit, result)]

    return saturating


def _multiply_add(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    left, right, addend = arguments
    return [t.binary("fadd", t.binary("fmul", left, right), addend)]


def _multiply_add_once(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    return [t.compute(arguments[0].type, ins.MultiplyAdd(*arguments))]


def _binary(op: ins.BinaryOp) -> Builtin:
    def binary(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
        return [t.binary(op, *arguments)]

    return binary


def _to_integer(rounding: ins.UnaryOp) -> Builtin:
    def to_integer(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
        ((_, type_),) = leaves(site.returns)
        rounded = t.compute(arguments[0].type, ins.Unary(rounding, arguments[0]))
        return [t.compute(type_, ins.Convert("fptosi", rounded))]

    return to_integer


def _parts(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    """The fraction of a float, with its sign, and the rest; of an infinity, the fraction is 0."""
    value = arguments[0]
    whole = t.compute(value.type, ins.Unary("ftrunc", value))
    same = t.compare("foeq", value, whole)
    rest = t.binary("fsub", value, t.select(same, Constant(value.type, 0.0), whole))
    (fraction,) = _copy_sign(t, site, [t.select(same, Constant(value.type, 0.0), rest), value])
    return [fraction, whole]


def _sine_and_cosine(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    return [t.compute(arguments[0].type, ins.Unary(op, arguments[0])) for op in _SINE_AND_COSINE]


_SINE_AND_COSINE: tuple[ins.UnaryOp, ...] = ("fsin", "fcos")


def _copy_sign(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    magnitude, sign = arguments
    bits = Int(magnitude.type.bits)
    mask = 1 << (bits.bits - 1)
    kept = t.binary("and", t.compute(bits, ins.Convert("bitcast", magnitude)), Constant(bits, mask - 1))
    taken = t.binary("and", t.compute(bits, ins.Convert("bitcast", sign)), Constant(bits, mask))
    return [t.compute(magnitude.type, ins.Convert("bitcast", t.binary("or", kept, taken)))]


def _float_class(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    """Whether a float is of one of the classes in a mask, told from its bits without the sign."""
    value, mask = arguments[0], constant_of(arguments[1])
    type_ = value.type
    assert isinstance(type_, Float)
    bits = Int(type_.bits)
    mantissa = 23 if type_.bits == 32 else 52
    infinity = ((1 << (type_.bits - 1)) - 1) >> mantissa << mantissa
    pattern = t.compute(bits, ins.Convert("bitcast", value))
    size = t.binary("and", pattern, Constant(bits, (1 << (type_.bits - 1)) - 1))
    negative = t.compare("slt", pattern, Constant(bits, 0))
    positive = t.binary("xor", negative, Constant(I1, 1))
    # (the mask's bit when negative, when positive, the least and the largest pattern)
    ranges = [
        (0, 0, infinity + 1, infinity | (1 << (mantissa - 1)) - 1),
        (1, 1, infinity | 1 << (mantissa - 1), (1 << (type_.bits - 1)) - 1),
        (2, 9, infinity, infinity),
        (3, 8, 1 << mantissa, infinity - 1),
        (4, 7, 1, (1 << mantissa) - 1),
        (5, 6, 0, 0),
    ]
    result: Value = Constant(I1, 0)
    for if_negative, if_positive, least, largest in ranges:
        signs = [sign for bit, sign in ((if_negative, negative), (if_positive, positive)) if mask >> bit & 1]
        for sign in signs:
            inside = t.compare("ule", t.binary("sub", size, Constant(bits, least)), Constant(bits, largest - least))
            result = t.binary("or", result, t.binary("and", inside, sign))
    return [result]


# Functions of math.h that are instructions, computed by the C library that Mazurka itself runs on. clang knows most of
# them; library/math.c has the others.
_UNARY_MATH = (
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p cbrt erf erfc "
    "tgamma lgamma sqrt fabs floor ceil trunc round rint"
)
_BINARY_MATH = "pow atan2 hypot remainder nextafter"
_MATH = {
    **{name: _unary(cast(ins.UnaryOp, name if name == "fabs" else f"f{name}")) for name in _UNARY_MATH.split()},
    **{name: _binary(cast(ins.BinaryOp, f"f{name}")) for name in _BINARY_MATH.split()},
    "fma": _multiply_add_once,
}
# As models call them, of double and of float.
MATH = {f"__mazurka_{name}{suffix}": function for name, function in _MATH.items() for suffix in ("", "f")}

ARITHMETIC: dict[str, Builtin] = {
    **{f"llvm.{name}": function for name, function in _MATH.items()},
    "llvm.nearbyint": _unary("frint"),
    "llvm.roundeven": _unary("frint"),
    "llvm.lround": _to_integer("fround"),
    "llvm.llround": _to_integer("fround"),
    "llvm.lrint": _to_integer("frint"),
    "llvm.llrint": _to_integer("frint"),
    "llvm.modf": _parts,
    "llvm.sincos": _sine_and_cosine,
    "llvm.bswap": _unary("bswap"),
    "llvm.bitreverse": _unary("bitreverse"),
    "llvm.ctpop": _unary("ctpop"),
    "llvm.ctlz": _unary("ctlz"),
    "llvm.cttz": _unary("cttz"),
    "llvm.abs": _abs,
    "llvm.smax": _pick("sgt"),
    "llvm.smin": _pick("slt"),
    "llvm.umax": _pick("ugt"),
    "llvm.umin": _pick("ult"),
    "llvm.minnum": _pick_float("folt"),
    "llvm.maxnum": _pick_float("fogt"),
    "llvm.minimumnum": _pick_float("folt"),
    "llvm.maximumnum": _pick_float("fogt"),
    "llvm.scmp": _three_way("slt"),
    "llvm.ucmp": _three_way("ult"),
    "llvm.fshl": _funnel(left_shift=True),
    "llvm.fshr": _funnel(left_shift=False),
    "llvm.fmuladd": _multiply_add,
    "llvm.copysign": _copy_sign,
    "llvm.is.fpclass": _float_class,
    **{f"llvm.{op}.with.overflow": _with_overflow(op) for op in ("sadd", "uadd", "ssub", "usub", "smul", "umul")},
    **{f"llvm.{op}.sat": _saturating(op) for op in ("sadd", "uadd", "ssub", "usub")},
}
