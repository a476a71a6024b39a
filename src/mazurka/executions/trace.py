"""A trace: what one execution did, in the words of the source. A plain value, made by `replaying`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

_UNSEEN_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread, named by the path of its creation, and the function that it runs."""

    name: str
    function: str | None

    def __str__(self) -> str:
        return f"{self.name} ({self.function})" if self.function and self.function != self.name else self.name


@dataclass(frozen=True, slots=True)
class Write:
    """A write that a read is about: the step of the trace that it is in, the thread, the place, and what it wrote."""

    step: int
    thread: str
    file: str | None
    line: int | None
    written: str


@dataclass(frozen=True, slots=True)
class Overwritten:
    """What a read finds that others have overwritten, under a weak memory model: `source` wrote it (None: it was there
    at the start), and the read does not see what is `unseen`."""

    source: Write | None
    unseen: tuple[Write, ...]

    def __str__(self) -> str:
        origin = f"written in step {self.source.step}" if self.source else "written at the start"
        shown = " and ".join(f"{write.written} of step {write.step}" for write in self.unseen[:_UNSEEN_SHOWN])
        more = f" and {len(self.unseen) - _UNSEEN_SHOWN} more" if len(self.unseen) > _UNSEEN_SHOWN else ""
        return f"{origin}; does not see {shown}{more}" if shown else origin


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a thread did; `text` says all of it in words.

    kind: "read", "write", "update", "compare-exchange", "call" (of a library function, for what it does to the
    objects it is given), "wake" (of threads that wait, or of this one), "allocate", "free", "start", "end", "exit",
    "choose", "print", "stop", "fail" or "race" (which marks that the action before it races with one of another
    thread).
    `object` names what it was done to, `read` and `written` are values as the source would write them. If what it reads
    is not the latest value, `overwritten` says why that can be.
    """

    kind: str
    text: str
    object: str | None = None
    read: str | None = None
    written: str | None = None
    overwritten: Overwritten | None = None

    @property
    def told(self) -> str:
        """What its thread did, as a verb."""
        return f"calls {self.text}" if self.kind == "call" else self.text


@dataclass(frozen=True, slots=True)
class TraceStep:
    """What a thread did in one line of the source, with no other thread in between.

    `step` is the step of the schedule that it began in, 0 before the first. `setup` marks what main did before there
    was another thread, `failed` the line in which the execution failed, or both lines of a data race. `omitted`: so
    many steps are left out before it. `distance`: so many dependences lie between it and what went wrong; None: what
    went wrong does not depend on it.
    """

    step: int
    thread: str
    file: str | None
    line: int | None
    function: str | None
    statement: str | None
    actions: tuple[Action, ...]
    setup: bool = False
    failed: bool = False
    omitted: int = 0
    distance: int | None = None


def nearest(distances: Sequence[int | None], always: Collection[int], most: int) -> set[int]:
    """Which of so many steps to show, if not all: those that are nearest to what went wrong, the later of those that
    are equally near; and some `always`."""
    order = sorted(
        range(len(distances)),
        key=lambda step: (step not in always, (distance := distances[step]) is None, distance or 0, -step),
    )
    return set(order[: max(most, len(always))])


@dataclass(frozen=True, slots=True)
class Reading:
    """A variable that a loop reads in every round, and the value that it finds (None if that is the library's
    business)."""

    object: str
    value: str | None

    def __str__(self) -> str:
        return f"{self.object} (now {self.value})" if self.value is not None else self.object


@dataclass(frozen=True, slots=True)
class Wait:
    """A thread that can never go on: where it waits, for what, which thread holds that (if one does), and whether that
    thread has ended. A thread that goes round a loop for ever, which is there in the source, waits for one of the
    variables that it `watches` to change; `what` is then "loop"."""

    thread: str
    file: str | None
    line: int | None
    statement: str | None
    what: str
    object: str | None
    holder: str | None
    holder_ended: bool = False
    watches: tuple[Reading, ...] = ()

    def __str__(self) -> str:
        if self.what == "loop":
            return self._round()
        text = f"{self.thread} waits for {self.what}"
        if self.object:
            text += f" {self.object}"
        if self.holder and self.holder != self.object:
            text += f", held by {self.holder}" + (", which has ended" if self.holder_ended else "")
        return text

    def _round(self) -> str:
        text = f"{self.thread} goes round {f'the loop at {self.file}:{self.line}' if self.file else 'a loop'} for ever"
        if not self.watches:
            return text
        return f"{text}, waiting for {' or '.join(map(str, self.watches))} to change"


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that a thread did, or wanted to do. `at` is where that is among the steps of the trace, and among the
    actions of that step, from 0; None: nowhere, for it is still to come when the execution ends."""

    thread: str
    text: str
    file: str | None
    line: int | None
    at: tuple[int, int] | None = None

    def __str__(self) -> str:
        return f"{self.thread} {self.text}" + (f" ({self.file}:{self.line})" if self.file else "")


@dataclass(frozen=True, slots=True)
class Order:
    """Where the order mattered: the `first` came before the `second`. It was `needed` if nothing went wrong the other
    way round, however that was tried. Else all that was tried afterwards went wrong, but not all of it would have
    the other way round."""

    first: Moment
    second: Moment
    needed: bool

    def __str__(self) -> str:
        return f"① {self.first} before ② {self.second}"


@dataclass(frozen=True, slots=True)
class Trace:
    """An execution from its begin to its end. `waiting` are the threads that are blocked at the end; `cycle` names
    those among them that wait for each other, each for the next. `output` is what the program printed. `order` is
    where the order mattered, if that was found. `weak` says in words why this is no interleaving, if it is none."""

    threads: tuple[Thread, ...]
    steps: tuple[TraceStep, ...]
    waiting: tuple[Wait, ...] = ()
    cycle: tuple[str, ...] = ()
    output: str = ""
    order: Order | None = None
    weak: str | None = None

    @property
    def reads_overwritten(self) -> bool:
        """Whether something in it reads what others have overwritten."""
        return any(action.overwritten for step in self.steps for action in step.actions)

    @property
    def omitted(self) -> int:
        """How many steps of a very long trace are left out in all. Where very many are, nobody has looked at them, and
        each step of the schedule counts as one."""
        return sum(step.omitted for step in self.steps)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "omitted": self.omitted}
