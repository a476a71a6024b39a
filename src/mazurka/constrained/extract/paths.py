"""Paths: what a thread does from one location to the next, while it is followed with values that are not all known."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field

from mazurka.constrained.extract.memory import Object, Word
from mazurka.constrained.model import FailureCause, Input, Rest, StateVariable, Waits
from mazurka.constrained.model.terms import Term
from mazurka.program import instructions as ins
from mazurka.program.program import Function


class UndefinedValue:
    """The value of what was never written."""


UNDEFINED = UndefinedValue()
Value = Term | UndefinedValue


class Fault(Exception):
    """The program goes wrong, as the machine would report it."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Beyond(Fault):
    """The program does something that cannot be followed."""

    def __init__(self, message: str) -> None:
        super().__init__("beyond", message)


class Split(Exception):
    """The path goes on only if it is known what some variables are, or elements of arrays that are read."""

    def __init__(self, atoms: Sequence[Term]) -> None:
        super().__init__()
        self.atoms = atoms


class Later(Exception):
    """Another round will tell."""


class Arrival(Exception):
    """The path has come to the next event."""


class LoopHead(Exception):
    """A loop comes round in which the thread computes on its own."""


class Blocked(Exception):
    """A guard does not hold. `holder` is who holds what is awaited, if anybody does."""

    def __init__(self, waits: Waits, holder: Value) -> None:
        super().__init__()
        self.waits: Waits = waits
        self.holder = holder


class Ended(Exception):
    """The thread goes no further."""

    def __init__(self, rest: Rest) -> None:
        super().__init__()
        self.rest: Rest = rest


@dataclass(eq=False, slots=True)
class Frame:
    """A call: where it stands, what its registers hold. `objects` are its local variables in memory; `ordinal` is how
    many events the call of the library that was under way had had (`Path.ordinal`)."""

    function: Function
    block: str
    index: int
    registers: dict[ins.Register, Value]
    path: tuple[int, ...]  # of the calls that led here
    objects: list[Object] = field(default_factory=list)
    ordinal: int = 0

    def copy(self) -> Frame:
        registers, objects = dict(self.registers), list(self.objects)
        return Frame(self.function, self.block, self.index, registers, self.path, objects, self.ordinal)

    @property
    def instruction(self) -> ins.Instruction:
        return self.function.blocks[self.block].instructions[self.index]

    @property
    def text(self) -> tuple[tuple[str, int], ...]:
        """The lines of the LLVM text that it comes from: of inlined calls, too."""
        location = self.instruction.location
        return location.text if location else ()


@dataclass(eq=False, slots=True)
class Path:
    """What a thread does from a location on, in one of the ways that are possible. `private` is what it knows of the
    words of memory that it alone can reach, or writes; `filled` are its arrays all of whose elements it has written.
    `memory` is what it has changed on this path. `known` (what variables are), `elements` (what elements of arrays
    are that were read) and `decided` follow from the `conditions`. `consulted` are the variables that told which blocks
    can be used again, `renewed` those that were assigned as a whole when a block began or ceased to exist."""

    thread: int
    frames: list[Frame]
    private: dict[Word, Value]
    several: bool
    children: int  # created so far
    blocks: int  # allocated so far
    ordinal: int
    take: bool
    first: bool = True  # nothing was executed yet
    depth: int = 0
    conditions: list[Term] = field(default_factory=list)
    decided: dict[Term, bool] = field(default_factory=dict)
    known: dict[Term, Term] = field(default_factory=dict)
    elements: dict[Term, Term] = field(default_factory=dict)
    memory: dict[StateVariable, Term] = field(default_factory=dict)
    inputs: list[Input] = field(default_factory=list)
    accesses: dict[tuple[StateVariable, Term | None], tuple[bool, bool]] = field(default_factory=dict)
    starts: list[tuple[int, Function, list[Value]]] = field(default_factory=list)
    visits: dict[tuple[int, str], tuple[int, int]] = field(default_factory=dict)
    rounds: int = 0
    back: bool = False
    prints: bool = False
    loops: frozenset[tuple[int, str]] = frozenset()
    filled: set[Word] = field(default_factory=set)
    consulted: set[Term] = field(default_factory=set)
    renewed: set[StateVariable] = field(default_factory=set)

    def copy(self) -> Path:
        other = copy(self)
        other.frames = [frame.copy() for frame in self.frames]
        other.private, other.memory, other.filled = dict(self.private), dict(self.memory), set(self.filled)
        other.conditions, other.decided, other.known = list(self.conditions), dict(self.decided), dict(self.known)
        other.elements = dict(self.elements)
        other.inputs, other.accesses = list(self.inputs), dict(self.accesses)
        other.starts, other.visits = list(self.starts), dict(self.visits)
        other.consulted, other.renewed = set(self.consulted), set(self.renewed)
        return other

    @property
    def frame(self) -> Frame:
        return self.frames[-1]


# What has a value at a location: a register of one of the calls, or a word of memory.
Slot = tuple[int, ins.Register] | Word
# Of an address in an array: where the array is, how far apart its elements are, how the index is widened and from what.
Shape = tuple[int, int, str, int]


@dataclass(eq=False, slots=True)
class SymbolicLocation:
    """A location, while the model is made: `values` are what is known there of registers and private memory; a variable
    stands for what is not."""

    number: int
    thread: int
    frames: list[Frame]
    several: bool
    children: int
    blocks: int
    ordinal: int
    silent: bool
    filled: frozenset[Word] = frozenset()
    values: dict[Slot, Value] = field(default_factory=dict)
    variables: dict[Slot, StateVariable] = field(default_factory=dict)
    outcomes: list[PathEnd] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Guard:
    """A guard that a path does not pass, and under which condition. `holder` is who holds what is awaited."""

    condition: Term
    inputs: tuple[Input, ...]
    waits: Waits
    holder: Value


@dataclass(eq=False, slots=True)
class PathEnd:
    """A path from a place to its end: the next place, a rest or a failure."""

    path: Path
    target: SymbolicLocation | Rest
    arriving: dict[Slot, Value] = field(default_factory=dict)
    started: list[tuple[SymbolicLocation, dict[Slot, Value]]] = field(default_factory=list)
    failure: FailureCause | None = None


def source_of(frames: Sequence[Frame]) -> ins.Location | None:
    """Where user code is to blame: the innermost of the calls that is not in the library."""
    for frame in reversed(frames):
        if not frame.function.library:
            return frame.instruction.location or frame.function.location
    return None
