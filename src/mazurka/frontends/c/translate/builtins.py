"""Calls that are no calls: LLVM's intrinsics, the instructions that models are written with, failed assertions.

Each is a function from the translation and the arguments to the scalars that the call gives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import cast, get_args

from mazurka.frontends.c.llvm.module import string_at
from mazurka.frontends.c.llvm.syntax import Unsupported, leaves
from mazurka.frontends.c.translate.arithmetic import ARITHMETIC, MATH
from mazurka.frontends.c.translate.exceptions import TYPE_NUMBER, UNWIND, own_variable
from mazurka.frontends.c.translate.memory import copy, fill
from mazurka.frontends.c.translate.translator import Builtin, CallSite, Translator, constant_of
from mazurka.frontends.c.translate.variadic import va_copy, va_start
from mazurka.program import instructions as ins
from mazurka.program.instructions import Constant, Value
from mazurka.program.types import I1, I32, I64, PTR, Int, Type

# Advice to an optimiser, notes for a debugger, and order between accesses, which are all ordered anyway.
_IGNORED = frozenset(
    {
        "llvm.assume", "llvm.clear_cache", "llvm.donothing", "llvm.experimental.noalias.scope.decl",
        "llvm.invariant.end", "llvm.lifetime.end", "llvm.lifetime.start", "llvm.prefetch", "llvm.pseudoprobe",
        "llvm.sideeffect", "llvm.stackrestore", "llvm.va_end", "llvm.var.annotation", "llvm.x86.sse.sfence",
        "llvm.x86.sse2.lfence", "llvm.x86.sse2.mfence", "llvm.x86.sse2.pause",
    }
)  # fmt: skip


def is_intrinsic(name: str) -> bool:
    """Whether a name always means an instruction, whatever the program defines."""
    return name.startswith("llvm.") or name in _MACHINE


def is_builtin(name: str) -> bool:
    """Whether a name means an instruction where the program does not define it."""
    return name in _DEFAULTS or _PANIC.match(name) is not None


def translate(t: Translator, site: CallSite, name: str) -> None:
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
        builtin = _MACHINE.get(name) or _DEFAULTS.get(name) or _panic(name)
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


def _truth(t: Translator, value: Value) -> Value:
    """A C truth value as an i1."""
    return value if value.type == I1 else t.compare("ne", value, Constant(value.type, 0))


def _literal(t: Translator, site: CallSite, index: int) -> str:
    text = string_at(t.module, site.arguments[index][0].value)
    if text is None:
        raise Unsupported("this argument must be a string literal")
    return text


# -------------------------------------------------------------------------------- LLVM: memory, varargs


def _copy(overlap: bool) -> Builtin:
    def translate_copy(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
        target, source, size = arguments[:3]
        if not all(t.bounds.access(t, address) for address in (target, source) if size != Constant(size.type, 0)):
            return []
        align = min(site.arguments[0][1].align, site.arguments[1][1].align, 8)
        copy(t, target, source, size, align, overlap)
        return []

    return translate_copy


def _fill(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    fill(t, arguments[0], arguments[1], arguments[2], min(site.arguments[0][1].align, 8))
    return []


def _object_size(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    """Unknown: 0 where the least, and -1 where the largest possible size was asked for."""
    ((_, type_),) = leaves(site.returns)
    return [Constant(type_, 0 if constant_of(arguments[1]) else (1 << type_.bits) - 1)]


def _pointer_mask(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    address = t.fit(arguments[0], I64)
    return [t.binary("and", address, t.fit(arguments[1], I64))]


def _first(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    return arguments[:1]


def _number_of_type(number: int) -> Builtin:
    def constant(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
        ((_, type_),) = leaves(site.returns)
        return [Constant(type_, number)]

    return constant


def _trap(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    t.emit(ins.Fail("abort", "__builtin_trap() was reached"))
    return []


_LLVM: dict[str, Builtin] = {
    "llvm.memcpy": _copy(overlap=False),
    "llvm.memcpy.inline": _copy(overlap=False),
    "llvm.memmove": _copy(overlap=True),
    "llvm.memset": _fill,
    "llvm.memset.inline": _fill,
    "llvm.va_start": va_start,
    "llvm.va_copy": va_copy,
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
    "llvm.eh.typeid.for": TYPE_NUMBER,
    "llvm.annotation": _first,
    **ARITHMETIC,
}

# ------------------------------------------------------------------------- instructions of the machine


def _effect(make: Callable[[list[Value]], ins.Instruction]) -> Builtin:
    """An instruction without a result."""

    def effect(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
        t.emit(make(arguments))
        return []

    return effect


def _gives(type_: Type, make: Callable[[list[Value]], ins.Instruction]) -> Builtin:
    def gives(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
        return [t.compute(type_, make(arguments))]

    return gives


def _assume(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    t.emit(ins.Assume(_truth(t, arguments[0])))
    return []


def _await(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    t.emit(ins.Await(_truth(t, arguments[0]), _literal(t, site, 1), arguments[2], arguments[3]))
    return []


def _claim(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    kind = _literal(t, site, 1)
    if kind not in get_args(ins.ClaimKind):
        raise Unsupported(f"'{kind}' is no kind of claim; use one of {', '.join(get_args(ins.ClaimKind))}")
    t.emit(ins.Claim(arguments[0], cast(ins.ClaimKind, kind)))
    return []


def _fail(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    kind = _literal(t, site, 0)
    if kind not in get_args(ins.FailureKind):
        raise Unsupported(f"'{kind}' is no kind of failure; use one of {', '.join(get_args(ins.FailureKind))}")
    t.emit(ins.Fail(cast(ins.FailureKind, kind), _literal(t, site, 1), *arguments[2:]))
    return []


def _leeway(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    """Whether an option is on that says what is made of what C leaves open. (A branch on it is none.)"""
    return [Constant(I1, int(asdict(t.linker.leeway)[_literal(t, site, 0)]))]


def _named(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    return [Constant(I1, int(t.linker.is_named(_literal(t, site, 0))))]


def _allocate(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    zeroed, reuse = bool(constant_of(arguments[1])), t.linker.leeway.reuse_addresses
    return [t.compute(PTR, ins.HeapAlloc(arguments[0], zeroed, reuse))]


def _spawn(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    if isinstance(arguments[0], ins.FunctionAddress):
        t.linker.unwinding.begin_thread(arguments[0].name)
    return [t.compute(PTR, ins.Spawn(arguments[0], arguments[1:]))]


_MACHINE: dict[str, Builtin] = {
    **MATH,
    "__mazurka_atomic_begin": _effect(lambda _: ins.AtomicBegin()),
    "__mazurka_atomic_end": _effect(lambda _: ins.AtomicEnd()),
    "__mazurka_assume": _assume,
    "__mazurka_await": _await,
    "__mazurka_claim": _claim,
    "__mazurka_relax": _effect(lambda _: ins.Relax()),
    "__mazurka_fail": _fail,
    "__mazurka_fail_with": _fail,
    "__mazurka_leeway": _leeway,
    "__mazurka_named": _named,
    "__mazurka_choose": _gives(I32, lambda arguments: ins.Choose(arguments[0])),
    "__mazurka_any_of_sign": _gives(I32, lambda arguments: ins.AnyOfSign(arguments[0])),
    "__mazurka_spawn": _spawn,
    "__mazurka_self": _gives(PTR, lambda _: ins.Self()),
    "__mazurka_long_jump": _effect(lambda arguments: ins.LongJump(*arguments)),
    "__mazurka_end_thread": _effect(lambda _: ins.EndThread()),
    "__mazurka_exit": _effect(lambda arguments: ins.Exit(arguments[0])),
    "__mazurka_allocate": _allocate,
    "__mazurka_free": _effect(lambda arguments: ins.Free(arguments[0])),
    "__mazurka_block_size": _gives(I64, lambda arguments: ins.BlockSize(arguments[0])),
    "__mazurka_unwind": UNWIND,
    "__mazurka_defined": _gives(PTR, lambda arguments: ins.Unary("defined", arguments[0])),
    "__mazurka_output": _effect(lambda arguments: ins.Output(arguments[0])),
}

# --------------------------------------------------------- instructions, unless the program defines them


def _assertion(text: int) -> Builtin:
    """A failed assertion; `text` is the argument with its text."""

    def assertion(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
        t.emit(ins.Fail("assertion", f"assertion `{_literal(t, site, text)}` failed"))
        return []

    return assertion


def _cpp_abort(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    """What the C++ library does where a program has not kept to what it asks for (the text behind the format is
    "FILE:LINE: … assertion EXPRESSION failed: WHAT"), or where it would throw an exception: then the format says so."""
    text = _literal(t, site, 0)
    if text == "%s":
        broken = _literal(t, site, 1).rpartition(" failed: ")[2].strip()
        t.emit(ins.Fail("abort", f"undefined in the C++ library: {broken}"))
    else:
        t.emit(ins.Fail("abort", f"the C++ library gave up: {text.partition(' in -fno-exceptions')[0]}"))
    return []


def _assume_int(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    """No call, so that the assumption is seen to be about what was just read (`transforms.awaits`)."""
    if len(arguments) != 1 or not isinstance(arguments[0].type, Int):
        raise Unsupported("calls '__VERIFIER_assume' with something else than one integer")
    return _assume(t, site, arguments)


def _set_jump(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    """What library/setjmp.c jumps back by: a stack object of this call, and which landing of its function it is; and in
    C++, who handles exceptions there."""
    if t.jumped_to is None:
        t.jumped_to = t.area(1)
        alloc = t.areas[-1]
        assert isinstance(alloc, ins.StackAlloc)
        alloc.private = False
    buffer = arguments[0]
    t.emit(ins.Store(t.jumped_to, buffer, align=8))
    t.emit(ins.Store(Constant(I64, t.landings), t.offset(buffer, 8), align=8))
    throws = t.linker.has_cpp_library
    if throws:
        outer = t.compute(PTR, ins.Load(own_variable(t, ins.HANDLERS), align=8))
        t.emit(ins.Store(outer, t.offset(buffer, 16), align=8))
    result = t.compute(I32, ins.Landing(t.landings))
    t.landings += 1
    if throws:
        outer = t.compute(PTR, ins.Load(t.offset(buffer, 16), align=8))
        t.emit(ins.Store(outer, own_variable(t, ins.HANDLERS), align=8))
    return [result]


# What Rust calls where a program panics, by their encoded names: core::panicking and what core has on top.
_PANIC = re.compile(
    r"_R\w*_4core(?:9panicking|6option|6result|4cell|5slice5index|3str)\w*?\d+(?:panic\w*|\w+_fail\w*)$"
)


def _panic(name: str) -> Builtin:
    """A program of Rust gives up. What it says is computed by code that only comes compiled; its name says enough."""
    what = re.sub(r"^.*?\d(?=\D+$)", "", name).removeprefix("panic_").removeprefix("const_").replace("_", " ")

    def panic(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
        t.emit(ins.Fail("abort", f"panic: {what}"))
        return []

    return panic


_DEFAULTS: dict[str, Builtin] = {
    **dict.fromkeys(("setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "__sigsetjmp_cancel"), _set_jump),
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
    "__mazurka_fail_with": (0, 1),
    "__mazurka_leeway": (0,),
    "__mazurka_named": (0,),
    "__assert_fail": (0, 1, 3),
    "__assert": (0, 1),
    "__assert_rtn": (0, 1, 3),
    "_ZNSt3__122__libcpp_verbose_abortEPKcz": (0, 1),
}
