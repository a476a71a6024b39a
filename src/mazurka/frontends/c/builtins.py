"""Calls that are no calls: LLVM's intrinsics, the instructions that models are written with, failed assertions.

Each is a function from the translation and the arguments to the scalars that the call gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast, get_args

from mazurka.frontends.c.module import string_at
from mazurka.frontends.c.syntax import Unsupported, leaves
from mazurka.positions import spoken
from mazurka.program.instructions import (
    Assume,
    AtomicBegin,
    AtomicEnd,
    Await,
    BinaryOp,
    BlockSize,
    Choose,
    Claim,
    ClaimKind,
    Constant,
    Convert,
    EndThread,
    Exit,
    Fail,
    FailureKind,
    Free,
    HeapAlloc,
    Instruction,
    Output,
    Predicate,
    Self,
    Spawn,
    Store,
    Unary,
    UnaryOp,
    Value,
)
from mazurka.program.types import I1, I32, I64, PTR, Float, Int, Type

if TYPE_CHECKING:
    from mazurka.frontends.c.translate import CallSite, FunctionTranslator

Arguments = list[Value]
Builtin = Callable[["FunctionTranslator", "CallSite", Arguments], Sequence[Value]]

# Advice to an optimiser, notes for a debugger, and order between accesses, which are all ordered anyway.
_IGNORED = frozenset(
    {
        "llvm.assume", "llvm.clear_cache", "llvm.donothing", "llvm.experimental.noalias.scope.decl",
        "llvm.invariant.end", "llvm.lifetime.end", "llvm.lifetime.start", "llvm.prefetch", "llvm.pseudoprobe",
        "llvm.sideeffect", "llvm.stackrestore", "llvm.va_end", "llvm.var.annotation", "llvm.x86.sse.sfence",
        "llvm.x86.sse2.lfence", "llvm.x86.sse2.mfence", "llvm.x86.sse2.pause",
    }
)  # fmt: skip

# Random numbers and times.
_UNBOUNDED = frozenset(
    {
        "clock", "drand48", "erand48", "getrandom", "gettimeofday", "jrand48", "lrand48", "mrand48", "nrand48", "rand",
        "rand_r", "random", "random_r", "srand", "srand48", "srandom", "time",
    }
)  # fmt: skip


def is_intrinsic(name: str) -> bool:
    """Whether a name always means an instruction, whatever the program defines."""
    return name.startswith("llvm.") or name in _MACHINE


def is_builtin(name: str) -> bool:
    """Whether a name means an instruction where the program does not define it."""
    return name in _DEFAULTS


def refusal(name: str) -> str:
    """Why a function that nobody defines cannot be called, and what to do."""
    shown = spoken(name).replace("std::__1", "std")  # the version of the C++ library is a namespace
    if name.startswith("__VERIFIER_nondet_"):
        return (
            f"calls '{name}', which may return any value; "
            "use __VERIFIER_nondet_bool() or __VERIFIER_nondet_range(low, high)"
        )
    if name in _UNBOUNDED:
        return (
            f"calls '{name}', which may return any value; use __VERIFIER_nondet_range(low, high) instead, "
            "which tries all values from low to high"
        )
    if "setjmp" in name or "longjmp" in name:
        return f"calls '{name}': jumps between functions are not supported; return an error code instead"
    if name in ("__cxa_throw", "__cxa_begin_catch", "__cxa_rethrow", "__dynamic_cast"):
        return f"calls '{name}': C++ exceptions and run-time types are not supported; remove them"
    if shown.startswith("std::"):
        return f"calls '{shown}', which Mazurka does not model; use the C library, or std::atomic"
    return (
        f"calls '{shown}', which Mazurka does not model; "
        "remove the call, or define the function in the program or in another file that is given"
    )


def translate(t: FunctionTranslator, site: CallSite, name: str) -> None:
    """Translate a call of an intrinsic or builtin."""
    if name.startswith("llvm."):
        base = name
        while base not in _IGNORED and base not in _LLVM:
            base, dot, _ = base.rpartition(".")  # the rest are types
            if not dot:
                raise Unsupported(f"the compiler's intrinsic '{name}' is not supported")
        if base in _IGNORED:
            return
        builtin = _LLVM[base]
    else:
        builtin = _MACHINE[name] if name in _MACHINE else _DEFAULTS[name]
    # A literal that only says something to us must not become a variable of the program.
    texts = _TEXTS.get(name, ())
    arguments = [
        Constant(PTR) if index in texts else t.scalar(operand) for index, (operand, _) in enumerate(site.arguments)
    ]
    results = builtin(t, site, arguments)
    types = [leaf for _, leaf in leaves(site.returns)]
    if types and results:
        t.bind(site.result, [t.fit(value, type_) for value, type_ in zip(results, types, strict=True)])


# ----------------------------------------------------------------------------------- small expressions


def _truth(t: FunctionTranslator, value: Value) -> Value:
    """A C truth value as an i1."""
    return value if value.type == I1 else t.compare("ne", value, Constant(value.type, 0))


def _number(value: Value, number: int) -> Constant:
    """A constant of the type of a value."""
    return Constant(value.type, number % (1 << value.type.bits))


def _literal(t: FunctionTranslator, site: CallSite, index: int) -> str:
    text = string_at(t.module, site.arguments[index][0].value)
    if text is None:
        raise Unsupported("this argument must be a string literal")
    return text


def _constant(value: Value) -> int:
    if not isinstance(value, Constant):
        raise Unsupported("this argument must be a constant")
    return int(value.value)


# -------------------------------------------------------------------------------- LLVM: memory, varargs

# The ABI's registers for arguments, which a variadic function saves one after the other: 8 bytes of each general one,
# 16 of each vector one.
GENERAL_REGISTERS = 6
VECTOR_REGISTERS = 8
REGISTER_AREA = 8 * GENERAL_REGISTERS + 16 * VECTOR_REGISTERS


def _copy(overlap: bool) -> Builtin:
    def copy(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
        target, source, size = arguments[:3]
        align = min(site.arguments[0][1].align, site.arguments[1][1].align, 8)
        t.copy(target, source, size, align, overlap)
        return []

    return copy


def _fill(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
    t.fill(arguments[0], arguments[1], arguments[2], min(site.arguments[0][1].align, 8))
    return []


def _va_start(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
    """A va_list, with its arguments where `_extra_arguments` puts them."""
    if t.extra_arguments is None:
        raise Unsupported("va_start is used in a function without variadic arguments")
    general, vector = t.registers_before
    fields: list[tuple[int, Value]] = [
        (0, Constant(I32, 8 * min(general, GENERAL_REGISTERS))),
        (4, Constant(I32, 8 * GENERAL_REGISTERS + 16 * min(vector, VECTOR_REGISTERS))),
        (8, t.offset(t.extra_arguments, REGISTER_AREA)),
        (16, t.extra_arguments),
    ]
    for offset, value in fields:
        t.emit(Store(value, t.offset(arguments[0], offset), align=value.type.size))
    return []


def _va_copy(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
    t.copy(arguments[0], arguments[1], Constant(I64, 24), 8, overlap=False)
    return []


def _object_size(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
    """Unknown: 0 where the least, and -1 where the largest possible size was asked for."""
    ((_, type_),) = leaves(site.returns)
    return [Constant(type_, 0 if _constant(arguments[1]) else (1 << type_.bits) - 1)]


def _pointer_mask(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
    address = t.fit(arguments[0], I64)
    return [t.binary("and", address, t.fit(arguments[1], I64))]


def _first(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
    return arguments[:1]


def _number_of_type(number: int) -> Builtin:
    def constant(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
        ((_, type_),) = leaves(site.returns)
        return [Constant(type_, number)]

    return constant


def _trap(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
    t.emit(Fail("abort", "__builtin_trap() was reached"))
    return []


# ----------------------------------------------------------------------------------- LLVM: arithmetic


def _unary(op: UnaryOp) -> Builtin:
    def unary(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
        return [t.compute(arguments[0].type, Unary(op, arguments[0]))]

    return unary


def _pick(predicate: Predicate) -> Builtin:
    """The first of two integers if the predicate holds between them, else the second."""

    def pick(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
        left, right = arguments
        return [t.select(t.compare(predicate, left, right), left, right)]

    return pick


def _pick_float(predicate: Predicate) -> Builtin:
    """The same for floats; where one is not a number, the other."""

    def pick(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
        left, right = arguments
        condition = t.binary("or", t.compare(predicate, left, right), t.compare("funo", right, right))
        return [t.select(condition, left, right)]

    return pick


def _abs(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
    value = arguments[0]
    zero = _number(value, 0)
    return [t.select(t.compare("slt", value, zero), t.binary("sub", zero, value), value)]


def _three_way(less: Predicate) -> Builtin:
    def three_way(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
        left, right = arguments
        ((_, type_),) = leaves(site.returns)
        below, above = t.compare(less, left, right), t.compare(less, right, left)
        return [t.select(below, Constant(type_, (1 << type_.bits) - 1), t.compute(type_, Convert("zext", above)))]

    return three_way


def _funnel(left_shift: bool) -> Builtin:
    """Shift the pair of two integers; shifts by their whole width give 0."""

    def funnel(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
        high, low, amount = arguments
        width = _number(amount, amount.type.bits)
        distance = t.binary("urem", amount, width)
        rest = t.binary("sub", width, distance)
        up, down = (distance, rest) if left_shift else (rest, distance)
        return [t.binary("or", t.binary("shl", high, up), t.binary("lshr", low, down))]

    return funnel


def _overflow(t: FunctionTranslator, op: str, left: Value, right: Value) -> tuple[Value, Value]:
    """The result of an operation, and whether it does not fit."""
    result = t.binary(cast(BinaryOp, op[1:]), left, right)
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
    def with_overflow(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
        return _overflow(t, op, *arguments)

    return with_overflow


def _saturating(op: str) -> Builtin:
    def saturating(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
        left, right = arguments
        result, overflow = _overflow(t, op, left, right)
        if op[0] == "u":
            limit: Value = _number(left, -1 if op == "uadd" else 0)
        else:
            least = 1 << (left.type.bits - 1)
            limit = t.select(t.compare("slt", left, _number(left, 0)), _number(left, least), _number(left, least - 1))
        return [t.select(overflow, limit, result)]

    return saturating


def _multiply_add(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
    left, right, addend = arguments
    return [t.binary("fadd", t.binary("fmul", left, right), addend)]


def _copy_sign(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
    magnitude, sign = arguments
    bits = Int(magnitude.type.bits)
    mask = 1 << (bits.bits - 1)
    kept = t.binary("and", t.compute(bits, Convert("bitcast", magnitude)), Constant(bits, mask - 1))
    taken = t.binary("and", t.compute(bits, Convert("bitcast", sign)), Constant(bits, mask))
    return [t.compute(magnitude.type, Convert("bitcast", t.binary("or", kept, taken)))]


def _float_class(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
    """Whether a float is of one of the classes in a mask, told from its bits without the sign."""
    value, mask = arguments[0], _constant(arguments[1])
    type_ = value.type
    assert isinstance(type_, Float)
    bits = Int(type_.bits)
    mantissa = 23 if type_.bits == 32 else 52
    infinity = ((1 << (type_.bits - 1)) - 1) >> mantissa << mantissa
    pattern = t.compute(bits, Convert("bitcast", value))
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


_LLVM: dict[str, Builtin] = {
    "llvm.memcpy": _copy(overlap=False),
    "llvm.memcpy.inline": _copy(overlap=False),
    "llvm.memmove": _copy(overlap=True),
    "llvm.memset": _fill,
    "llvm.memset.inline": _fill,
    "llvm.va_start": _va_start,
    "llvm.va_copy": _va_copy,
    "llvm.objectsize": _object_size,
    "llvm.ptrmask": _pointer_mask,
    "llvm.is.constant": _number_of_type(0),
    "llvm.stacksave": _number_of_type(0),
    "llvm.invariant.start": _number_of_type(0),
    "llvm.allow.runtime.check": _number_of_type(1),
    "llvm.trap": _trap,
    "llvm.debugtrap": _trap,
    "llvm.ubsantrap": _trap,
    "llvm.expect": _first,
    "llvm.expect.with.probability": _first,
    "llvm.threadlocal.address": _first,
    "llvm.launder.invariant.group": _first,
    "llvm.strip.invariant.group": _first,
    "llvm.ptr.annotation": _first,
    "llvm.annotation": _first,
    "llvm.bswap": _unary("bswap"),
    "llvm.bitreverse": _unary("bitreverse"),
    "llvm.ctpop": _unary("ctpop"),
    "llvm.ctlz": _unary("ctlz"),
    "llvm.cttz": _unary("cttz"),
    "llvm.fabs": _unary("fabs"),
    "llvm.sqrt": _unary("fsqrt"),
    "llvm.floor": _unary("ffloor"),
    "llvm.ceil": _unary("fceil"),
    "llvm.trunc": _unary("ftrunc"),
    "llvm.round": _unary("fround"),
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

# ------------------------------------------------------------------------- instructions of the machine


def _effect(make: Callable[[Arguments], Instruction]) -> Builtin:
    """An instruction without a result."""

    def effect(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
        t.emit(make(arguments))
        return []

    return effect


def _gives(type_: Type, make: Callable[[Arguments], Instruction]) -> Builtin:
    def gives(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
        return [t.compute(type_, make(arguments))]

    return gives


def _assume(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
    t.emit(Assume(_truth(t, arguments[0])))
    return []


def _await(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
    t.emit(Await(_truth(t, arguments[0]), _literal(t, site, 1), arguments[2], arguments[3]))
    return []


def _claim(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
    kind = _literal(t, site, 1)
    if kind not in get_args(ClaimKind):
        raise Unsupported(f"'{kind}' is no kind of claim; use one of {', '.join(get_args(ClaimKind))}")
    t.emit(Claim(arguments[0], cast(ClaimKind, kind)))
    return []


def _fail(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
    kind = _literal(t, site, 0)
    if kind not in get_args(FailureKind):
        raise Unsupported(f"'{kind}' is no kind of failure; use one of {', '.join(get_args(FailureKind))}")
    t.emit(Fail(cast(FailureKind, kind), _literal(t, site, 1)))
    return []


def _allocate(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
    return [t.compute(PTR, HeapAlloc(arguments[0], zeroed=bool(_constant(arguments[1]))))]


_MACHINE: dict[str, Builtin] = {
    "__mazurka_atomic_begin": _effect(lambda _: AtomicBegin()),
    "__mazurka_atomic_end": _effect(lambda _: AtomicEnd()),
    "__mazurka_assume": _assume,
    "__mazurka_await": _await,
    "__mazurka_claim": _claim,
    "__mazurka_fail": _fail,
    "__mazurka_choose": _gives(I32, lambda arguments: Choose(arguments[0])),
    "__mazurka_spawn": _gives(PTR, lambda arguments: Spawn(arguments[0], arguments[1:])),
    "__mazurka_self": _gives(PTR, lambda _: Self()),
    "__mazurka_end_thread": _effect(lambda _: EndThread()),
    "__mazurka_exit": _effect(lambda arguments: Exit(arguments[0])),
    "__mazurka_allocate": _allocate,
    "__mazurka_free": _effect(lambda arguments: Free(arguments[0])),
    "__mazurka_block_size": _gives(I64, lambda arguments: BlockSize(arguments[0])),
    "__mazurka_output": _effect(lambda arguments: Output(arguments[0])),
}

# --------------------------------------------------------- instructions, unless the program defines them


def _assertion(text: int) -> Builtin:
    """A failed assertion; `text` is the argument with its text."""

    def assertion(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
        t.emit(Fail("assertion", f"assertion `{_literal(t, site, text)}` failed"))
        return []

    return assertion


def _cpp_abort(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
    """What the C++ library does where it would throw an exception. Its text is a format, of which the start is said."""
    t.emit(Fail("abort", f"the C++ library gave up: {_literal(t, site, 0).partition(' in -fno-exceptions')[0]}"))
    return []


def _assume_int(t: FunctionTranslator, site: CallSite, arguments: Arguments) -> Sequence[Value]:
    """No call, so that the assumption is seen to be about what was just read (`transforms.awaits`)."""
    if len(arguments) != 1 or not isinstance(arguments[0].type, Int):
        raise Unsupported("calls '__VERIFIER_assume' with something else than one integer")
    return _assume(t, site, arguments)


_DEFAULTS: dict[str, Builtin] = {
    "__VERIFIER_assume": _assume_int,
    "__assert_fail": _assertion(0),
    "__assert": _assertion(0),
    "__assert_rtn": _assertion(3),
    "_ZNSt3__122__libcpp_verbose_abortEPKcz": _cpp_abort,
}

# Which arguments are texts.
_TEXTS = {
    "__mazurka_await": (1,),
    "__mazurka_claim": (1,),
    "__mazurka_fail": (0, 1),
    "__assert_fail": (0, 1, 3),
    "__assert": (0, 1),
    "__assert_rtn": (0, 1, 3),
    "_ZNSt3__122__libcpp_verbose_abortEPKcz": (0,),
}
