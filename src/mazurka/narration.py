"""From what the machine recorded to what a person reads: the steps of a trace, one line of the source each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mazurka.escaping import quoted
from mazurka.naming import Names
from mazurka.positions import Position, Source
from mazurka.program.instructions import Assume, Instruction
from mazurka.trace import Action, TraceStep

if TYPE_CHECKING:
    from mazurka._native import Operation

_ACCESSES = ("load", "store", "update", "compare-exchange")
# What the compiler calls where the source copies or fills memory.
_SPOKEN = {"__mazurka_copy": "memcpy", "__mazurka_move": "memmove", "__mazurka_fill": "memset"}
# Where the control block of a thread says that the thread was woken: `signalled` in the library's mazurka.h.
_SIGNALLED = 12
_SIGNALS = re.compile(r"(pthread_cond|cnd)_(signal|broadcast)$")


@dataclass(slots=True)
class _Call:
    """A call of a library function, the objects that it touched, the threads that it woke, and for one that waits to be
    woken, whether it was."""

    function: str
    objects: list[str] = field(default_factory=list)
    writes: bool = False
    wakes: list[str] = field(default_factory=list)
    woken: bool | None = None

    def actions(self) -> list[Action]:
        if self.woken:
            locked = [name.removeprefix("&") for name in self.objects]
            return [Action("wake", f"wakes up and locks {', '.join(locked)}" if locked else "wakes up")]
        text = f"{self.function}({', '.join(self.objects)})"
        if "try" in self.function and not self.writes:
            text += " does not succeed"
        elif self.woken is False:
            text += " times out"
        wakes = [Action("wake", f"wakes {thread}", thread) for thread in self.wakes]
        if not wakes and _SIGNALS.match(self.function):
            wakes = [Action("wake", "wakes nobody")]
        return [Action("call", text, self.objects[0] if self.objects else None), *wakes]


@dataclass(slots=True)
class _Print:
    text: bytearray

    def actions(self) -> list[Action]:
        shown = self.text.decode("utf-8", "backslashreplace")
        return [Action("print", f"prints {quoted(shown)}", written=shown)]


@dataclass(slots=True)
class _Done:
    what: Action

    def actions(self) -> list[Action]:
        return [self.what]


@dataclass(slots=True)
class _Row:
    """A step in the making. Each of its actions is with whether it is worth telling: whether another thread could
    see it, or main did it to set up what others will see."""

    step: int
    thread: int
    position: Position | None
    calls: tuple[int, ...]  # the calls that lead here: a recursive call is another row
    setup: bool
    actions: list[tuple[bool, _Call | _Print | _Done]] = field(default_factory=list)
    positions: set[tuple[int, ...]] = field(default_factory=set)  # what was done already: again means another round
    failed: bool = False


def narrate(
    operations: Iterable[tuple[int, Operation]],
    source: Source,
    names: Names,
    failure: tuple[int, Sequence[int], str] | None = None,
    races: Mapping[int, str] | None = None,
) -> list[TraceStep]:
    """The steps of a trace. `operations` are with the number of the schedule's step in which they happened;
    `failure` is the thread that failed, its frames, and the message. `races` has a remark for each operation, by its
    index, that is part of a data race."""
    rows: list[_Row] = []
    setup = True  # until the first thread is started
    for index, (step, operation) in enumerate(operations):
        if operation.kind == "spawn":
            setup = False
        if operation.kind != "fail":
            _add(rows, step, operation, source, names, setup)
        if races and index in races:
            rows[-1].failed = True
            rows[-1].actions.append((True, _Done(Action("race", races[index]))))
    if failure is not None:
        thread, frames, message = failure
        row = _row(rows, rows[-1].step if rows else 0, thread, frames, source, rows[-1].setup if rows else True)
        row.failed = True
        row.actions.append((True, _Done(Action("fail", message))))
    told = (_finish(row, source, names) for row in rows)
    return [row for row in told if row.actions]


def _row(rows: list[_Row], step: int, thread: int, frames: Sequence[int], source: Source, setup: bool) -> _Row:
    """The last row, if it is of the same thread in the same line and call; else a new one."""
    position = source.position(frames)
    calls = tuple(frames[position.depth + 1 :]) if position else ()
    if rows:
        last = rows[-1]
        same_line = (last.position and (last.position.file, last.position.line, last.position.function)) == (
            position and (position.file, position.line, position.function)
        )
        if last.thread == thread and same_line and last.calls == calls and last.setup == setup:
            return last
    rows.append(_Row(step, thread, position, calls, setup))
    return rows[-1]


def _add(rows: list[_Row], step: int, operation: Operation, source: Source, names: Names, setup: bool) -> None:
    row = _row(rows, step, operation.thread, operation.frames, source, setup)
    position = source.position(operation.frames)
    inside = position.depth if position else len(operation.frames)
    here = tuple(operation.frames[: inside + 1])
    # The same instruction again, or the same library call from its begin: another iteration of a loop.
    if (inside == 0 and operation.kind in _ACCESSES) or operation.kind == "section":
        if here in row.positions:
            rows.append(_Row(step, operation.thread, row.position, row.calls, setup))
            row = rows[-1]
        row.positions.add(here)
    if operation.kind == "output":
        last = row.actions[-1][1] if row.actions else None
        if not isinstance(last, _Print):
            last = _Print(bytearray())
            row.actions.append((not setup, last))
        last.text.append(operation.written or 0)
    elif operation.kind in _ACCESSES:
        # What the library does that nobody can see, and what the compiler keeps for itself, has no meaning here.
        unseen = position is None or (position.library is not None and not operation.visible)
        if position is not None and not unseen and not names.is_temporary(operation.address):
            _add_access(row, operation, position, names)
    elif operation.kind == "choose" and position and not (position.library or "__VERIFIER_").startswith("__VERIFIER_"):
        pass  # which of the waiting threads is woken: the wake-up tells
    elif operation.kind != "section":
        action = _event(operation, source, names)
        if position is not None or action.kind in ("start", "end", "exit"):
            row.actions.append((True, _Done(action)))


def _add_access(row: _Row, operation: Operation, position: Position, names: Names) -> None:
    place = names.place(operation.address, operation.size, operation.thread)
    if position.library is not None and (place.library or place.type is None or names.is_library(operation.address)):
        _add_to_call(row, operation, position.library, names)
        return
    old, new = (
        None if bits is None else names.value(bits, operation.size, place, operation.thread)
        for bits in (operation.read, operation.written)
    )
    match operation.kind:
        case "load":
            action = Action("read", f"reads {place.name} = {old}", place.name, read=old)
        case "store":
            action = Action("write", f"writes {place.name} = {new}", place.name, written=new)
        case "update" if old is None:
            action = Action("update", f"updates {place.name} to {new}", place.name, written=new)
        case "update":
            action = Action("update", f"updates {place.name}: {old} → {new}", place.name, old, new)
        case kind:
            outcome = f"{old} → {new}" if new is not None else f"fails, it is {old}"
            action = Action(kind, f"compare-exchange {place.name}: {outcome}", place.name, old, new)
    sets_up = row.setup and new is not None and names.object(operation.address).kind in ("global", "heap")
    row.actions.append((operation.visible or sets_up, _Done(action)))


def _add_to_call(row: _Row, operation: Operation, function: str, names: Names) -> None:
    """The library's own business with an object: show the call rather than what it does inside."""
    last = row.actions[-1][1] if row.actions else None
    spoken = _SPOKEN.get(function, function)
    if not isinstance(last, _Call) or last.function != spoken:
        last = _Call(spoken)
        row.actions.append((operation.visible, last))
    elif operation.visible:
        row.actions[-1] = (True, last)
    last.writes |= operation.written is not None
    info = names.object(operation.address)
    own = info.kind == "thread" and info.owner == operation.thread
    if info.kind == "thread" and operation.address == info.base + _SIGNALLED:
        if not own:
            last.wakes.append(names.thread(info.owner))
        elif operation.kind == "load":
            last.woken = bool(operation.read)
        return
    if own or names.is_library(operation.address):
        return  # the library's own notes
    place = names.place(operation.address, operation.size, operation.thread)
    name = place.name if info.kind == "thread" else f"&{place.name}"
    if name not in last.objects:
        last.objects.append(name)


def _event(operation: Operation, source: Source, names: Names) -> Action:
    match operation.kind:
        case "allocate":
            name = names.name(names.object(operation.address), operation.thread)
            return Action("allocate", f"allocates {name} ({_bytes(operation.written or 0)})", name)
        case "free":
            name = names.pointer(operation.address, None, operation.thread)
            return Action("free", f"frees {name}", name)
        case "spawn":
            started = names.thread_at(operation.address) or "a thread"
            return Action("start", f"starts {started}", started)
        case "end":
            return Action("end", "ends")
        case "exit":
            return Action("exit", "exits")
        case "choose":
            value = str(operation.read)
            return Action("choose", f"chooses {value} (of 0 to {(operation.written or 1) - 1})", read=value)
        case _:
            return Action("stop", f"stops here: {_why_stopped(source.instruction(operation.frames[0]))}")


def _why_stopped(instruction: Instruction) -> str:
    match instruction:
        case Assume(origin="loop"):
            return "the loop would only go round again"
        case Assume(origin="bound"):
            return "the loop has gone round as often as it may"
        case _:
            return "an assumption is false"


def _finish(row: _Row, source: Source, names: Names) -> TraceStep:
    """Leave out what is not worth telling, except where the execution fails."""
    actions = [action for telling, making in row.actions if telling or row.failed for action in making.actions()]
    position = row.position
    return TraceStep(
        step=row.step,
        thread=names.thread(row.thread),
        file=position.file if position else None,
        line=position.line if position else None,
        function=position.function if position else None,
        statement=source.statement(position) if position else None,
        actions=tuple(actions),
        setup=row.setup,
        failed=row.failed,
    )


def _bytes(count: int) -> str:
    return f"{count} byte" if count == 1 else f"{count} bytes"
