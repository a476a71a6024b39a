"""A program as threads of guarded transitions.

A *location* is a point of one thread right before an event (a step of the virtual machine), with the calls that led
there: functions are inlined. A *transition* is that event and what the thread computes on its own after it, up to the
next location: so transitions are the steps of the machine, and a path of the model can be replayed. Where a thread
computes on its own in a loop, the loop's head is a location as well and the transitions from it are `silent`: they
belong to the same step.

The threads are all those that the program can create; until it is, a thread stays at its first location, `unborn`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from mazurka.constrained.model.terms import TRUE, Term, evaluate, evaluate_array
from mazurka.executions.schedule import Transformations
from mazurka.program.instructions import Location as SourceLocation

if TYPE_CHECKING:
    from mazurka.machine.lowering import Lowered
    from mazurka.program.program import Program

# "unborn": not created yet. "end": the thread has ended. "stuck": a false assumption has stopped it for good.
# "return": so has the first, and with it the process, as soon as nobody else can go on.
# "exit": the whole program has ended. "failed": see the transition's `failure`. None: the thread goes on.
Rest = Literal["unborn", "end", "return", "stuck", "exit", "failed"]
# Of variables, by their terms; of an array, all elements.
Values = dict[Term, int | Sequence[int]]
Unnoticed = Literal["section", "alone", "private"]
Waits = Literal["await", "loop", "assume"]


@dataclass(eq=False, slots=True)
class StateVariable:
    """What states assign values to: a word of memory (`thread` is None: shared, or the thread that alone can reach it),
    an array of them, or a register that is live at some location. `term` is how terms refer to it in the state before a
    transition. `initial` is one value, one for each element of an array, or None: any (no location is reached at which
    it matters).

    explicit: its values follow from constants and other explicit variables alone, and are few. Abstract states know
    them exactly.

    `address` is where a word of memory lies in the virtual machine (of an array, the first; the others follow it at
    distances of `stride` bytes); `display` is how the source calls it. `reused`: the word is in a block that stands for
    one block of the machine after the other (see `reuse`)."""

    term: Term
    initial: int | tuple[int, ...] | None
    thread: int | None = None
    explicit: bool = False
    address: int | None = None
    display: str = ""
    stride: int = 0
    reused: bool = False

    @property
    def name(self) -> str:
        return self.term.name

    @property
    def is_array(self) -> bool:
        return self.term.length is not None


@dataclass(frozen=True, slots=True)
class SharedAccess:
    """A shared variable that an event touches; of an array the element at `index` (over the state before the transition
    and its inputs)."""

    variable: StateVariable
    index: Term | None
    reads: bool
    writes: bool


@dataclass(frozen=True, slots=True)
class Input:
    """A nondeterministic value that a transition uses: any number below `count`. As a choice of the virtual machine."""

    term: Term
    count: Term


@dataclass(frozen=True, slots=True)
class FailureCause:
    """Why an execution goes wrong. kind: as `mazurka.result.Bug.kind`, or "beyond": the program does something there
    that this engine cannot follow, and `message` says what."""

    kind: str
    message: str
    location: SourceLocation | None


@dataclass(frozen=True, slots=True)
class Point:
    """What stands at a location, for people and for the native build: the event after it.

    `frames` are the instructions of the thread's calls, innermost first, as code positions of the virtual machine
    (`Operation.frames`). `calls` are the lines of the LLVM text of the calls of user code that lead there, outermost
    first, and `line` that of the instruction of user code itself (the access, or the call of a library function);
    `ordinal` counts the events of one such library call. `operation` names that library function, if any. `what` is in
    words: "reads count", "locks m"."""

    what: str
    source: SourceLocation | None
    function: str
    frames: tuple[int, ...]
    calls: tuple[tuple[str, int], ...] = ()
    line: tuple[str, int] | None = None
    ordinal: int = 0
    operation: str | None = None


@dataclass(eq=False, slots=True)
class Location:
    """A point of one thread. `enabled` says in which states the thread can take its next step; the conditions of the
    `transitions` exclude each other (for equal inputs) and hold, for some input, where `enabled` does. `waits` is what
    it means if the thread stays here for good: "await": it is in a deadlock; "loop": it goes round a loop in which
    nothing changes; "assume": an assumption of the program does not hold. `holder` is the address of the control block
    of the thread that holds what is awaited (null: nobody in particular), where that is one value. `awaits`: where
    there are guards of several kinds, in which of the states in which the thread waits it waits at an await."""

    thread: int
    number: int  # in its thread; 0 is `unborn`, except in the first thread
    enabled: Term
    transitions: list[Transition] = field(default_factory=list)
    rest: Rest | None = None
    point: Point | None = None
    waits: Waits = "await"
    holder: Term | None = None
    awaits: Term = TRUE
    ends: bool = False  # no execution stays in silent transitions for ever that comes by here: that is proved
    loop: LocalLoop | None = None  # in which a thread that comes by here may come by again in silent transitions

    @property
    def is_silent(self) -> bool:
        """Whether a thread that is here is in the middle of a step."""
        return any(transition.silent for transition in self.transitions)

    @property
    def may_block(self) -> bool:
        return not self.enabled.is_true


@dataclass(eq=False, slots=True)
class Transition:
    """`condition` includes that the event is enabled. `assigns` are the values after it, over the state before it;
    other variables keep theirs. `starts` are the threads that it creates. `back`: it goes round a loop. `prints`: what
    follows the event prints something. `inputs` are in the order of the machine's choices. `ghosts` are like accesses,
    but of the model alone: what it looks at and changes to tell blocks of memory apart that are used again."""

    number: int  # in the model
    thread: int
    source: Location
    target: Location
    condition: Term
    assigns: dict[StateVariable, Term] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()
    accesses: tuple[SharedAccess, ...] = ()
    starts: tuple[int, ...] = ()
    failure: FailureCause | None = None
    silent: bool = False
    back: bool = False
    prints: bool = False
    ghosts: tuple[SharedAccess, ...] = ()

    def after(self, values: Values, inputs: Mapping[Term, int]) -> Values:
        """The values of the variables after it, if these were the values before it and of its inputs."""
        before, after = {**values, **inputs}, dict(values)
        for variable, value in self.assigns.items():
            after[variable.term] = evaluate_array(value, before) if variable.is_array else evaluate(value, before)
        return after

    @property
    def is_passing(self) -> bool:
        """Whether it belongs to what a thread computes on its own, and that ends. No execution consists of such
        transitions alone from some time on, whoever takes them: nobody else assigns what the ranks depend on."""
        return self.silent and self.source.ends


@dataclass(eq=False, slots=True)
class LocalLoop:
    """Silent locations of one thread that lead to each other in silent transitions: a loop, or several nested ones, in
    which it computes on its own. `changed` are the variables that it assigns on the way.

    `ranks` shows that nobody goes round there for ever; it is None if that was not found. For each location it has
    terms that are compared as unsigned numbers. No transition inside of the loop leads to a location where the first
    one is larger; so it stays the same from some time on, and what can be done then for ever are the loops made of
    those transitions that do not decrease it. There, the same holds for the second one, and so on, until no loops are
    left."""

    transitions: tuple[Transition, ...]
    changed: tuple[StateVariable, ...]
    ranks: dict[Location, tuple[Term, ...]] | None


@dataclass(eq=False, slots=True)
class ThreadModel:
    """`name` is that of the virtual machine: "main", "main.1", ...; `display` how people call it: its function. `entry`
    is where it begins once it exists (for the first thread: at once)."""

    number: int
    name: str
    display: str
    entry: Location
    locations: list[Location] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Model:
    threads: list[ThreadModel] = field(default_factory=list)
    variables: dict[str, StateVariable] = field(default_factory=dict)
    transitions: list[Transition] = field(default_factory=list)
    transforms: Transformations = field(default_factory=Transformations)
    program: Program | None = None  # what it was made from, ...
    lowered: Lowered | None = None  # ... and its code, to replay paths
    # Where user code accesses memory without an event of its own, as `Point.line` and `calls`, and why: in an atomic
    # section, while the first thread is alone, or because nobody else can notice.
    unnoticed: dict[tuple[tuple[str, int], tuple[tuple[str, int], ...]], set[Unnoticed]] = field(default_factory=dict)
    # The functions that user code calls through a pointer, by the line of the LLVM text.
    targets: dict[tuple[str, int], set[str]] = field(default_factory=dict)
    # Where the program computes with addresses as with numbers, if it does: natively, objects lie elsewhere.
    telling: SourceLocation | None = None
    # The arguments that it was made with, beginning with the name of the program; None: the program does not look at
    # them. Its environment is empty.
    arguments: tuple[str, ...] | None = None
    reads_environment: bool = False

    @property
    def initial_values(self) -> Values:
        """Those of all variables; 0 where any will do."""
        return {
            variable.term: variable.initial or (0 if variable.term.length is None else (0,) * variable.term.length)
            for variable in self.variables.values()
        }

    @property
    def initial_locations(self) -> tuple[Location, ...]:
        return tuple(thread.entry if thread.number == 0 else thread.locations[0] for thread in self.threads)


def dependent(one: Transition, other: Transition, *, elements: bool = False) -> bool:
    """Whether the order of two transitions can matter. With `elements`, accesses to different elements of an array are
    known to be independent if both indices are constants."""
    if one.thread == other.thread or one.thread in other.starts or other.thread in one.starts:
        return True
    if "exit" in (one.target.rest, other.target.rest):
        return True
    return any(
        mine.variable is yours.variable and (mine.writes or yours.writes) and not (elements and _apart(mine, yours))
        for mine in (*one.accesses, *one.ghosts)
        for yours in (*other.accesses, *other.ghosts)
    )


def _apart(mine: SharedAccess, yours: SharedAccess) -> bool:
    if mine.index is None or yours.index is None:
        return False
    return mine.index.is_constant and yours.index.is_constant and mine.index is not yours.index
