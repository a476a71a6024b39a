"""Integers of 128 bits, each of which is two words: the lower one, and the upper one. What is more than a few
instructions is a model (library/int128.c)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from mazurka.frontends.c.llvm.syntax import WIDE
from mazurka.frontends.c.translate.memory import load_all
from mazurka.frontends.c.translate.translator import Translator
from mazurka.program import instructions as ins
from mazurka.program.instructions import Constant, Value
from mazurka.program.types import F32, F64, I64, Float, Type

_BITWISE = frozenset(("and", "or", "xor"))
_SHIFTS = frozenset(("shl", "lshr", "ashr"))


def binary(
    t: Translator, op: ins.BinaryOp, left: Sequence[Value], right: Sequence[Value], checked: bool
) -> list[Value]:
    if op in _BITWISE:
        return [t.binary(op, a, b) for a, b in zip(left, right, strict=True)]
    if op == "add" and not checked:
        low = t.binary("add", left[0], right[0])
        carry = t.compute(I64, ins.Convert("zext", t.compare("ult", low, left[0])))
        return [low, t.binary("add", t.binary("add", left[1], right[1]), carry)]
    if op == "sub" and not checked:
        borrow = t.compute(I64, ins.Convert("zext", t.compare("ult", left[0], right[0])))
        high = t.binary("sub", t.binary("sub", left[1], right[1]), borrow)
        return [t.binary("sub", left[0], right[0]), high]
    name = f"__mazurka_{'checked_' if checked else ''}{op}128"
    return _model(t, name, [*left, *right])


def _model(t: Translator, name: str, arguments: Sequence[Value]) -> list[Value]:
    area = t.area(16)
    t.call_library(name, [area, *arguments])
    return load_all(t, area, WIDE, 8)


def compare(t: Translator, predicate: ins.Predicate, left: Sequence[Value], right: Sequence[Value]) -> Value:
    same = t.compare("eq", left[1], right[1])
    if predicate in ("eq", "ne"):
        lower = t.compare(predicate, left[0], right[0])
        return t.select(same, lower, t.compare(predicate, left[1], right[1]))
    unsigned = cast(ins.Predicate, f"u{predicate[1:]}")
    return t.select(same, t.compare(unsigned, left[0], right[0]), t.compare(predicate, left[1], right[1]))


def convert(t: Translator, op: ins.ConvertOp, values: Sequence[Value], targets: Sequence[Type]) -> list[Value]:
    match op:
        case "trunc":
            return [t.fit(values[0], targets[0])]
        case "zext":
            return [t.fit(values[0], I64), Constant(I64)]
        case "sext":
            value = values[0]
            low = value if value.type == I64 else t.compute(I64, ins.Convert("sext", value))
            return [low, t.binary("ashr", low, Constant(I64, 63))]
        case "sitofp" | "uitofp":
            name = f"__mazurka_{op}128{'f' if targets[0] == F32 else ''}"
            result = t.call_library(name, values)
            assert result is not None
            return [result]
    assert isinstance(values[0].type, Float)
    value = values[0] if values[0].type == F64 else t.compute(F64, ins.Convert("fpext", values[0]))
    return _model(t, f"__mazurka_{op}128", [value])
