"""The vocabulary of programs: values, instructions, terminators.

What threads do to each other is the business of few of them: the memory accesses, `Free`, `Spawn`, `EndThread`
and `Exit`. Everything that blocks is an *atomic section* (`AtomicBegin` .. `AtomicEnd`) with an `Assume` or an
`Await` in it: the section is one event, which is enabled only in states in which its conditions hold. A lock is
a section that awaits "free" and writes the owner; a guarded load is a section with a load and an assume.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from mazurka.program.types import PTR, Type


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a source file. Column 0 is unknown. `function` is set for code that was put into another function
    (`transforms.inline`): the one that it comes from; `library` instead, if that is one of the library, which the line
    calls. `text` is where it is in what the compiler made of the source: file and line, after those of the calls whose
    place it has taken."""

    file: str
    line: int
    column: int = 0
    function: str | None = None
    library: str | None = None
    text: tuple[tuple[str, int], ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


# Thread-local variables for exceptions (frontends/c/translate/exceptions.py): the exception of a thread on its way to a
# handler, null otherwise; the innermost of the calls under way that have a handler. What they handle is said by
# constants whose names begin with `CLAUSES`.
IN_FLIGHT = "__mazurka_in_flight"
HANDLERS = "__mazurka_handlers"
CLAUSES = "__mazurka_clauses."

# ---------------------------------------------------------------------------------------------- values


@dataclass(eq=False, slots=True)
class Register:
    """A value computed once (SSA): by a parameter, a phi or an instruction. Identity is what counts, not the name. What
    a pointer `points_to` in the source, where that is known, are keys of types in `Program.debug_types`: of several,
    because it is cast to another."""

    name: str
    type: Type
    points_to: tuple[str, ...] = ()

    def point_to(self, *types: str) -> None:
        self.points_to = tuple(dict.fromkeys(self.points_to + types))

    def __str__(self) -> str:
        return f"%{self.name}"


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal. Integers are stored modulo 2**bits. An `undefined` one has bits that nobody ever wrote."""

    type: Type
    value: int | float = 0
    undefined: bool = False


@dataclass(frozen=True, slots=True)
class GlobalAddress:
    """The address of a global variable, plus an offset in bytes. Thread-local ones need `ThreadLocalAddress`."""

    name: str
    offset: int = 0

    @property
    def type(self) -> Type:
        return PTR


@dataclass(frozen=True, slots=True)
class FunctionAddress:
    """The address of a function, for calls through pointers."""

    name: str

    @property
    def type(self) -> Type:
        return PTR


Value = Register | Constant | GlobalAddress | FunctionAddress

# ------------------------------------------------------------------------------------------ instructions

BinaryOp = Literal[
    "add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "and", "or", "xor", "shl", "lshr", "ashr",
    "fadd", "fsub", "fmul", "fdiv", "frem", "fpow", "fatan2", "fhypot", "fremainder", "fnextafter",
]  # fmt: skip
# Those that can be `checked`.
CHECKABLE = frozenset(("add", "sub", "mul", "shl", "lshr", "ashr"))
Predicate = Literal[
    "eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge",
    # floating point: o... are false and u... are true when an operand is not a number
    "foeq", "fone", "folt", "fole", "fogt", "foge", "ford",
    "fueq", "fune", "fult", "fule", "fugt", "fuge", "funo",
]  # fmt: skip
ConvertOp = Literal["zext", "sext", "trunc", "bitcast", "fptosi", "fptoui", "sitofp", "uitofp", "fpext", "fptrunc"]
UnaryOp = Literal[
    "fneg", "fabs", "fsqrt", "ffloor", "fceil", "ftrunc", "fround", "frint",
    "fsin", "fcos", "ftan", "fasin", "facos", "fatan", "fsinh", "fcosh", "ftanh", "fasinh", "facosh", "fatanh",
    "fexp", "fexp2", "fexpm1", "flog", "flog2", "flog10", "flog1p", "fcbrt", "ferf", "ferfc", "ftgamma", "flgamma",
    "ctpop", "ctlz", "cttz", "bswap", "bitreverse",
    "defined",  # with 0 for the bits that nobody wrote
]  # fmt: skip
UpdateOp = Literal["exchange", "add", "sub", "and", "or", "xor", "nand", "max", "min", "umax", "umin"]
Ordering = Literal["plain", "relaxed", "acquire", "release", "acq_rel", "seq_cst"]
# "limit": it is Mazurka that cannot go on, and not the program that goes wrong.
FailureKind = Literal["assertion", "abort", "memory", "sync", "arithmetic", "limit"]
AssumeOrigin = Literal["program", "loop", "bound"]
ClaimKind = Literal["acquire", "release", "keep", "try", "look"]


@dataclass(eq=False, slots=True, kw_only=True)
class Instruction:
    """Any instruction; `result` is the register that it defines, if any."""

    result: Register | None = None
    location: Location | None = None


@dataclass(eq=False, slots=True)
class Binary(Instruction):
    """`result = left op right`, all of one type. Division by zero is an error; sums, differences and products wrap
    around, and shifts by too much give 0 (or sign), unless the operation is `checked`: then a result that does not fit
    as a signed number, and a shift by too much, are errors as well."""

    op: BinaryOp
    left: Value
    right: Value
    checked: bool = False


@dataclass(eq=False, slots=True)
class Compare(Instruction):
    """`result: i1 = left predicate right`."""

    predicate: Predicate
    left: Value
    right: Value


@dataclass(eq=False, slots=True)
class Convert(Instruction):
    """`result = value`, converted to the type of `result`. `bitcast` keeps the bits (pointers and integers of 64
    bits, floats and integers of the same size)."""

    op: ConvertOp
    value: Value


@dataclass(eq=False, slots=True)
class Unary(Instruction):
    op: UnaryOp
    value: Value


@dataclass(eq=False, slots=True)
class MultiplyAdd(Instruction):
    """`result = left * right + addend`, floats of one type, rounded once."""

    left: Value
    right: Value
    addend: Value


@dataclass(eq=False, slots=True)
class Select(Instruction):
    """`result = if_true if condition else if_false`; no branch is taken."""

    condition: Value
    if_true: Value
    if_false: Value


@dataclass(eq=False, slots=True)
class Offset(Instruction):
    """`result: ptr = base + index * scale + displacement` (modulo 2**64; `index` is an i64, signed). If there is a
    `limit`, an index that is negative, or not below it, is an error."""

    base: Value
    index: Value
    scale: int
    displacement: int = 0
    limit: int | None = None


@dataclass(eq=False, slots=True)
class Load(Instruction):
    """Read a value of the type of `result`. `align` is the alignment in bytes that the address must have."""

    address: Value
    ordering: Ordering = "plain"
    align: int = 1


@dataclass(eq=False, slots=True)
class Store(Instruction):
    value: Value
    address: Value
    ordering: Ordering = "plain"
    align: int = 1


@dataclass(eq=False, slots=True)
class Update(Instruction):
    """Atomically read, combine and write; `result` is the old value. Without a `result`, equal operations on the
    same location commute (except `exchange`)."""

    op: UpdateOp
    address: Value
    value: Value
    ordering: Ordering = "seq_cst"
    align: int = 1


@dataclass(eq=False, slots=True)
class CompareExchange(Instruction):
    """If the location holds `expected`, write `desired`. `result` is the old value, `success` an i1. `failure` is the
    order of the read that it is if not (none: that of `ordering`, as far as it is a read's)."""

    address: Value
    expected: Value
    desired: Value
    success: Register | None = None
    ordering: Ordering = "seq_cst"
    align: int = 1
    failure: Ordering | None = None

    @property
    def failure_ordering(self) -> Ordering:
        if self.failure is not None:
            return self.failure
        reads: dict[Ordering, Ordering] = {"release": "relaxed", "acq_rel": "acquire"}
        return reads.get(self.ordering, self.ordering)


ReadingAccess = Load | Update | CompareExchange
MemoryAccess = ReadingAccess | Store


@dataclass(eq=False, slots=True)
class StackAlloc(Instruction):
    """A new object of `size` bytes (a constant or an i64) that lives until the function returns. `private` says that
    no other thread can ever reach it, so that accesses to it are no events (`transforms.escape` finds out).
    `variable` is its name in the source, `debug_type` the key of its type in `Program.debug_types`."""

    size: Value
    private: bool = False
    variable: str | None = None
    debug_type: str | None = None


@dataclass(eq=False, slots=True)
class HeapAlloc(Instruction):
    """A new object of `size` bytes (an i64) that lives until it is freed. `reuse`: or any one of that size that this
    thread has freed; all are explored."""

    size: Value
    zeroed: bool = False
    reuse: bool = False


@dataclass(eq=False, slots=True)
class Free(Instruction):
    """End the life of a heap object: a write to all of it. Null is allowed and does nothing."""

    address: Value


@dataclass(eq=False, slots=True)
class BlockSize(Instruction):
    """`result: i64` = the size of the heap object that starts at `address`."""

    address: Value


@dataclass(eq=False, slots=True)
class ThreadLocalAddress(Instruction):
    """`result: ptr` = the address of this thread's copy of a thread-local global."""

    name: str


@dataclass(eq=False, slots=True)
class Call(Instruction):
    """Call a function by name, or through a pointer."""

    callee: str | Value
    arguments: list[Value] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Landing(Instruction):
    """`result: i32` = 0; or, if a `LongJump` has led here, what that brings. The calls of its function may go on here
    instead of returning: so its local variables stay in memory, where they are what they were last set to."""

    number: int  # among those of its function


@dataclass(eq=False, slots=True)
class Spawn(Instruction):
    """Create a thread that runs `function(*arguments)`; `result: ptr` is the address of its control block (see
    `native/core/layout.hpp`)."""

    function: Value
    arguments: list[Value] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Self(Instruction):
    """`result: ptr` = the address of this thread's control block."""


@dataclass(eq=False, slots=True)
class Choose(Instruction):
    """`result: i32` = any value from 0 to `count` - 1; all are explored. No value at all when `count` is 0: as a
    false assume."""

    count: Value


@dataclass(eq=False, slots=True)
class AnyOfSign(Instruction):
    """`result: i32` = any number with the sign of `sign` (an i32): 0 only for 0. What is made of that is decided before
    a program is checked (`transforms.signs`): the machine takes the sign itself."""

    sign: Value


@dataclass(eq=False, slots=True)
class Assume(Instruction):
    """In an atomic section, a guard: the section is enabled only where `condition` holds. Elsewhere, a false
    condition stops the thread for good, and the execution counts as blocked.

    origin: "program" if the program says so; "loop" if a false condition means that this iteration of a loop would do
    nothing (`transforms.purity`): a thread that stays here may be in a livelock, and an undefined condition counts as
    true, for what the program does with it tells more; "bound" if a loop has gone round often enough
    (`transforms.unroll`)."""

    condition: Value
    origin: AssumeOrigin = "program"


@dataclass(eq=False, slots=True)
class Await(Instruction):
    """The guard of a blocking operation; only in an atomic section. A thread that stays here for good is part of a
    deadlock, which is explained as waiting for the `what` at address `object`, held by the thread whose control
    block is at `holder` (null: nobody in particular)."""

    condition: Value
    what: str
    object: Value
    holder: Value


@dataclass(eq=False, slots=True)
class Claim(Instruction):
    """What the atomic section around it does to the lock at address `lock`; only in an atomic section, and not an event
    of its own. Nothing is read or written: it is how a search that wants to know gets to know of locks.

    kind: "acquire" if the section waits for the lock and then holds it (the claim stands before the `Await`, so that an
    attempt that is blocked is known for what it is); "release" if it gives the lock back; "keep" if the holder touches
    the lock's own words but goes on holding it; "try" if it took the lock without waiting; "look" if it only looked at
    the lock's words."""

    lock: Value
    kind: ClaimKind


@dataclass(eq=False, slots=True)
class Relax(Instruction):
    """What the atomic section around it has accessed so far synchronises with nothing: it has looked at a lock, and
    could not take it. Only in an atomic section, and not an event of its own. A section inside of another one is part
    of that, and does not say so."""


@dataclass(eq=False, slots=True)
class AtomicBegin(Instruction):
    """Everything up to the matching `AtomicEnd` is one event. Sections nest. `guarded`: the section stands for one
    access of the program and its guards (`transforms.awaits`). That access synchronises, and races, as it would
    alone; in other sections, all accesses are atomic."""

    guarded: bool = False


@dataclass(eq=False, slots=True)
class AtomicEnd(Instruction):
    pass


@dataclass(eq=False, slots=True)
class Fence(Instruction):
    """Between threads. Accesses are sequentially consistent anyhow, so it is no event; but atomic accesses before and
    after it synchronise, of whatever order they are, as the memory model says."""

    ordering: Ordering = "seq_cst"


@dataclass(eq=False, slots=True)
class Output(Instruction):
    """Append a byte (an i8) to what the program printed. Not an event."""

    byte: Value


# ------------------------------------------------------------------------------------------- terminators


@dataclass(eq=False, slots=True)
class Terminator(Instruction):
    """The last instruction of a block."""


@dataclass(eq=False, slots=True)
class Jump(Terminator):
    target: str


@dataclass(eq=False, slots=True)
class Branch(Terminator):
    condition: Value
    if_true: str
    if_false: str


@dataclass(eq=False, slots=True)
class Switch(Terminator):
    value: Value
    cases: list[tuple[int, str]]
    default: str


@dataclass(eq=False, slots=True)
class Return(Terminator):
    """`thrown`: because of an exception, which the caller finds `IN_FLIGHT` as soon as the call is over."""

    value: Value | None = None
    thrown: bool = False


@dataclass(eq=False, slots=True)
class LongJump(Terminator):
    """Go back to the call, still under way, that made the stack object at `object`, and there to the `Landing` with the
    number `landing` (an i64), which gives `value` (an i32). The calls in between end."""

    object: Value
    landing: Value
    value: Value


@dataclass(eq=False, slots=True)
class EndThread(Terminator):
    """End this thread, whatever the depth of its calls. Returning from a thread's first function does the same.

    With a `status`, it is the first thread, and the process ends with it: `main` has returned. Others are still run as
    far as they can (they might have been faster), but who waits then, waits no more."""

    status: Value | None = None


@dataclass(eq=False, slots=True)
class Exit(Terminator):
    """End the whole execution, in all threads: a write to everything. Only the last 8 bits of the status count."""

    status: Value


@dataclass(eq=False, slots=True)
class Fail(Terminator):
    """A bug, or, if its kind is that, a limit. In a model of a library function, the place from which user code
    called it is to blame. `details` is the address of a C string that says more, and `cause` that of a block on the
    heap: where it was made is to blame."""

    kind: FailureKind
    message: str
    details: Value | None = None
    cause: Value | None = None


@dataclass(eq=False, slots=True)
class Unreachable(Terminator):
    """Arriving here is undefined behaviour, reported as an `abort`."""


@dataclass(eq=False, slots=True)
class Phi:
    """`result` = the value that belongs to the block from which control came. All phis of a block act at once."""

    result: Register
    incoming: list[tuple[str, Value]]
