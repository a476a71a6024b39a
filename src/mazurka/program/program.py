"""A program: functions of basic blocks, global variables, and what is known of their names and types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from mazurka.program.instructions import Instruction, Location, Phi, Register, Terminator
from mazurka.program.types import Type


@dataclass(eq=False, slots=True)
class Block:
    """Phis, instructions, and one terminator, which is the last of `instructions`."""

    name: str
    phis: list[Phi] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)

    @property
    def terminator(self) -> Terminator:
        last = self.instructions[-1]
        assert isinstance(last, Terminator)
        return last


@dataclass(eq=False, slots=True)
class Function:
    """The first block is the entry; it has no predecessors and no phis. `library` marks models of library functions:
    traces show the call to them rather than what they do inside. `display` is its name in the source, if that is
    another one."""

    name: str
    parameters: list[Register] = field(default_factory=list)
    returns: Type | None = None
    blocks: dict[str, Block] = field(default_factory=dict)
    location: Location | None = None
    library: bool = False
    display: str | None = None

    @property
    def entry(self) -> Block:
        return next(iter(self.blocks.values()))

    @property
    def instructions(self) -> Iterator[Instruction]:
        """Those of all blocks."""
        return chain.from_iterable(block.instructions for block in self.blocks.values())

    @property
    def size(self) -> int:
        """How many instructions there are."""
        return sum(len(block.instructions) for block in self.blocks.values())


@dataclass(frozen=True, slots=True)
class Relocation:
    """At `offset` of a global's initial bytes stands the address of `target` (a global or a function) + `addend`."""

    offset: int
    target: str
    addend: int = 0


@dataclass(eq=False, slots=True)
class GlobalVariable:
    """A variable of static storage. `data` is as long as the variable. A `thread_local` one exists once per thread,
    a `constant` one is never written, so that reading it is no event; nor is an access to a `private` (thread-local)
    one, whose address no other thread can get. `display` is its name in the source."""

    name: str
    data: bytes
    relocations: list[Relocation] = field(default_factory=list)
    constant: bool = False
    thread_local: bool = False
    private: bool = False
    display: str | None = None
    debug_type: str | None = None
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A field of a structure or union. A `bit_size` other than 0 is a bit-field, at `bit_offset` from `offset`."""

    name: str
    offset: int
    type: str | None
    bit_size: int = 0
    bit_offset: int = 0


@dataclass(frozen=True, slots=True)
class DebugType:
    """A type of the source language, for reading memory aloud. Types refer to each other by their keys.

    kind: "int" (signed), "uint", "bool", "char", "float", "enum", "pointer", "struct", "union", "array",
    "function" or "opaque" (shown as bytes or not at all).
    """

    name: str
    kind: str
    size: int
    members: tuple[Member, ...] = ()  # struct, union
    element: str | None = None  # array: of its elements; pointer: of what it points to
    count: int = 0  # array
    enumerators: tuple[tuple[str, int], ...] = ()  # enum


@dataclass(frozen=True, slots=True)
class WeakOrder:
    """A line that asks for a memory order other than seq_cst, or for a fence. operation: "load", "store", "update",
    "compare-exchange" or "fence". If the line does several of these, `orders` are all of them; those of a
    compare-exchange have that of its failure after a slash."""

    file: str | None
    line: int | None
    operation: str
    orders: tuple[str, ...]


@dataclass(eq=False, slots=True)
class Program:
    """All of it. `entry` is the function that the first thread runs, with no arguments. `weak_orders` is what its
    source says about memory orders (`program.orders`), if that is known. `left_out` says in sentences which of its
    executions it does not have, because of what it calls."""

    functions: dict[str, Function] = field(default_factory=dict)
    globals: dict[str, GlobalVariable] = field(default_factory=dict)
    debug_types: dict[str, DebugType] = field(default_factory=dict)
    entry: str = "main"
    weak_orders: tuple[WeakOrder, ...] | None = None
    left_out: tuple[str, ...] = ()
