"""The types of values that a program computes with: integers, floats, pointers.

Aggregates do not exist as values: a front end takes them apart into scalars, or leaves them in memory.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Int:
    """An integer of 1 to 64 bits, without a sign of its own (operations have one)."""

    bits: int

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return (self.bits + 7) // 8 if self.bits <= 8 else 1 << (((self.bits + 7) // 8) - 1).bit_length()

    def __str__(self) -> str:
        return f"i{self.bits}"


@dataclass(frozen=True, slots=True)
class Float:
    """An IEEE number of 32 or 64 bits."""

    bits: int

    @property
    def size(self) -> int:
        return self.bits // 8

    def __str__(self) -> str:
        return f"f{self.bits}"


@dataclass(frozen=True, slots=True)
class Pointer:
    """An address: 64 bits, an integer in every respect."""

    @property
    def bits(self) -> int:
        return 64

    @property
    def size(self) -> int:
        return 8

    def __str__(self) -> str:
        return "ptr"


Type = Int | Float | Pointer

I1 = Int(1)
I8 = Int(8)
I16 = Int(16)
I32 = Int(32)
I64 = Int(64)
F32 = Float(32)
F64 = Float(64)
PTR = Pointer()


def signed(number: int, bits: int) -> int:
    """What the bits of a number mean in two's complement."""
    return number - (1 << bits) if number >> (bits - 1) else number
