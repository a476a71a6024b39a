"""From what the machine recorded to what a person reads: the steps of a trace, one line of the source each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mazurka.escaping import quoted
from mazurka.executions.ending import Remark
from mazurka.executions.naming import Names
from mazurka.executions.overwritten import Older
from mazurka.executions.positions import Position, Source
from mazurka.executions.trace import Action, Overwritten, TraceStep, Write, nearest
from mazurka.frontends.c import roles
from mazurka.machine.layout import THREAD_SIGNALLED
from mazurka.program.instructions import Assume, Instruction
from mazurka.program.types import signed

if TYPE_CHECKING:
    from mazurka._native import Operation

# Of longer traces, what is furthest from the failure is left out.
_MOST_STEPS = 1000
_ACCESSES = ("load", "store", "update", "compare-exchange")
# What the compiler calls where the source copies or fills memory.
_WRITTEN_AS = {"__mazurka_copy": "memcpy", "__mazurka_move": "memmove", "__mazurka_fill": "memset"}
# Whatever allocates memory goes through this function of the library, which may choose to give none. (There is a dot in
# its name if the program has one of the same name.)
_ALLOCATE = "allocate"
_UNTIMED = ("pthread_cond_wait", "cnd_wait")
# What the compiler calls for exceptions, and what that is in the source, if anything.
_EXCEPTIONS = {
    "__cxa_allocate_exception": "",
    "__cxa_throw": "throws an exception",
    "__cxa_begin_catch": "catches the exception",
    "__cxa_rethrow": "throws the exception again",
    "__cxa_end_catch": "",
    "__cxa_free_exception": "",
    "__clang_call_terminate": "lets an exception out of a noexcept function",
}
_SIGNALS = roles.operations("wake", of=["condition"]) | {
    f"std::condition_variable{kind}::notify_{whom}" for kind in ("", "_any") for whom in ("one", "all")
}


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
            text += " wakes up without a signal" if self.function in _UNTIMED else " times out"
        wakes = [Action("wake", f"wakes {thread}", thread) for thread in self.wakes]
        if not wakes and self.function in _SIGNALS:
            wakes = [Action("wake", "wakes nobody")]
        return [Action("call", text, self.objects[0] if self.objects else None), *wakes]


@dataclass(slots=True)
class _Print:
    text: bytearray

    def actions(self) -> list[Action]:
        text = self.text.decode("utf-8", "backslashreplace")
        return [Action("print", f"prints {quoted(text)}", written=text)]


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
    omitted: int = 0
    distance: int | None = None
    marks: dict[int, int] = field(default_factory=dict)  # which action it is that was asked for, by the question

    def come_near(self, distance: int | None) -> None:
        if distance is not None:
            self.distance = distance if self.distance is None else min(self.distance, distance)

    def told(self) -> bool:
        return self.failed or any(telling for telling, _ in self.actions)

    def tell(self) -> list[list[Action]]:
        """What each of them comes to, without what is not worth telling, except where the execution fails."""
        return [making.actions() if telling or self.failed else [] for telling, making in self.actions]

    def place(self, question: int) -> int:
        """The first action of those that were asked for."""
        return sum(map(len, self.tell()[: self.marks[question]]))


def narrate(
    operations: Iterable[Operation],
    source: Source,
    names: Names,
    remark: Remark | None = None,
    races: Mapping[int, str] | None = None,
    asked: Sequence[int] = (),
    distances: Sequence[int | None] = (),
    older: Mapping[int, Older] | None = None,
    overwritten: Mapping[int, int] | None = None,
) -> tuple[list[TraceStep], list[tuple[int, int] | None]]:
    """The steps of a trace. `races` has a remark for each operation, by its index, that is part of a data race. And
    where the operations are that were `asked` for by their indices: in which step, and which action of it. `distances`
    are those of the operations from what went wrong. `older` has what operations read that others have overwritten, and
    `overwritten` those that write what earlier ones overwrite."""
    rows: list[_Row] = []
    operations = list(operations)
    steps_of: list[int] = []  # of each operation, the step that its row begins in
    setup = True  # until the first thread is started
    for index, operation in enumerate(operations):
        if operation.kind == "spawn":
            setup = False
        if operation.kind != "fail":
            order: Overwritten | int | None = None
            if older and index in older:
                order = _overwritten(older[index], operations, steps_of, source, names)
            elif overwritten and index in overwritten:
                order = steps_of[overwritten[index]]
            _add(rows, operation, source, names, setup, order)
            rows[-1].come_near(distances[index] if distances else None)
        steps_of.append(rows[-1].step if rows else operation.step)
        if index in asked and rows[-1].actions:
            rows[-1].actions[-1] = (True, rows[-1].actions[-1][1])
            rows[-1].marks.update(
                (number, len(rows[-1].actions) - 1) for number in range(len(asked)) if asked[number] == index
            )
        if races and index in races:
            rows[-1].failed = True
            rows[-1].actions.append((True, _Done(Action("race", races[index]))))
    if remark is not None:
        step, setup = (rows[-1].step, rows[-1].setup) if rows else (0, True)
        row = _row(rows, step, remark.thread, remark.frames, source, setup)
        row.failed = True
        row.come_near(0)
        row.actions.append((True, _Done(Action("fail", remark.message))))
    shown = list(_shortened(rows))
    steps = [_finish(row, source, names) for row in shown]
    places = {number: (step, row.place(number)) for step, row in enumerate(shown) for number in row.marks}
    return steps, [places.get(number) for number in range(len(asked))]


def _shortened(rows: Sequence[_Row]) -> Iterator[_Row]:
    """Without those in which nothing happens that is worth telling, and of very many, without those that are furthest
    from what went wrong."""
    told = [row for row in rows if row.told()]
    always = [number for number, row in enumerate(told) if row.failed or row.marks]
    kept = nearest([row.distance for row in told], always, _MOST_STEPS)
    number = omitted = 0
    for row in rows:
        omitted += row.omitted
        if row.told():
            if number in kept:
                row.omitted, omitted = omitted, 0
                yield row
            else:
                omitted += 1
            number += 1


def _row(
    rows: list[_Row], step: int, thread: int, frames: Sequence[int], source: Source, setup: bool, omitted: int = 0
) -> _Row:
    """The last row, if it is of the same thread in the same line and call, and nothing is left out; else a new one."""
    position = source.position(frames)
    calls = tuple(frames[position.depth + 1 :]) if position else ()
    if rows and not omitted:
        last = rows[-1]
        same_line = (last.position and (last.position.file, last.position.line, last.position.function)) == (
            position and (position.file, position.line, position.function)
        )
        if last.thread == thread and same_line and last.calls == calls and last.setup == setup:
            return last
    rows.append(_Row(step, thread, position, calls, setup, omitted=omitted))
    return rows[-1]


def _overwritten(
    older: Older, operations: Sequence[Operation], steps_of: Sequence[int], source: Source, names: Names
) -> Overwritten:
    def write(index: int) -> Write:
        operation = operations[index]
        position = source.position(operation.frames)
        place = names.place(operation.address, operation.size, operation.thread)
        value = names.value(operation.written or 0, operation.size, place, operation.thread)
        file, line = (position.file, position.line) if position else (None, None)
        return Write(steps_of[index], names.thread(operation.thread), file, line, f"{place.name} = {value}")

    return Overwritten(None if older.source is None else write(older.source), tuple(map(write, older.unseen)))


def _add(
    rows: list[_Row],
    operation: Operation,
    source: Source,
    names: Names,
    setup: bool,
    order: Overwritten | int | None = None,
) -> None:
    """`order`: what it reads that others have overwritten, or the step that overwrites what it writes."""
    if operation.kind == "fence":
        return  # nothing that anybody sees
    frames = operation.frames
    row = _row(rows, operation.step, operation.thread, frames, source, setup, operation.left_out)
    position = source.position(frames)
    inside = position.depth if position else len(frames)
    innermost = source.function(frames[0])
    allocates = innermost.library and innermost.name.partition(".")[0] == _ALLOCATE
    here = tuple(frames[: inside + 1])
    # The same instruction again, or the same library call from its begin: another iteration of a loop.
    if (inside == 0 and operation.kind in _ACCESSES) or operation.kind == "section":
        if here in row.positions:
            rows.append(_Row(operation.step, operation.thread, row.position, row.calls, setup))
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
        unseen |= allocates or (position is not None and not position.library and names.is_library(operation.address))
        if position is not None and (said := _EXCEPTIONS.get(position.library or "")) is not None:
            _add_exception(row, said)
        elif position is not None and not unseen and not _is_nameless(operation, position, names):
            _add_access(row, operation, position, names, order)
    elif operation.kind == "choose" and position and _is_spurious(source.instruction(frames[0])):
        if operation.read:
            action = Action("choose", "compare-exchange fails without a reason")
            row.actions.append((True, _Done(action)))
    elif operation.kind == "choose" and position and allocates:
        if operation.read:
            row.actions.append((True, _Done(Action("choose", "gets no memory"))))
    elif operation.kind == "choose" and position and not (position.library or "__VERIFIER_").startswith("__VERIFIER_"):
        pass  # which of the waiting threads is woken: the wake-up tells
    elif operation.kind != "section":
        action = _event(operation, source, names)
        if position is not None or action.kind in ("start", "end", "exit"):
            row.actions.append((True, _Done(action)))


def _is_nameless(operation: Operation, position: Position, names: Names) -> bool:
    """Whether the source has no name for what is accessed: the compiler's own memory, or what it keeps of the library
    where the program itself is."""
    address = operation.address
    return names.is_temporary(address) or (position.library is None and names.is_library(address))


def _add_exception(row: _Row, said: str) -> None:
    """What the runtime library does with an exception is its own business."""
    action = _Done(Action("call", said))
    if said and (not row.actions or row.actions[-1][1] != action):
        row.actions.append((True, action))


def _add_access(
    row: _Row, operation: Operation, position: Position, names: Names, order: Overwritten | int | None
) -> None:
    place = names.place(operation.address, operation.size, operation.thread)
    own = place.library or place.reserved or place.type is None or names.is_library(operation.address)
    if position.library is not None and own:
        _add_to_call(row, operation, position.library, names)
        return
    old, new = (
        None if bits is None or place.library else names.value(bits, operation.size, place, operation.thread)
        for bits in (operation.read, operation.written)
    )
    match operation.kind:
        case _ if place.library:  # nobody but the library can read that
            kind, verb = ("read", "reads") if operation.written is None else ("write", "writes")
            action = Action(kind, f"{verb} {place.name}", place.name)
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
    if isinstance(order, Overwritten):
        action = replace(action, text=f"{action.text}, {order}", overwritten=order)
    elif order is not None:
        action = replace(action, text=f"{action.text}, which step {order} overwrites")
    sets_up = row.setup and new is not None and names.object(operation.address).kind in ("global", "heap")
    row.actions.append((operation.visible or sets_up, _Done(action)))


def _add_to_call(row: _Row, operation: Operation, function: str, names: Names) -> None:
    """The library's own business with an object: show the call rather than what it does inside."""
    last = row.actions[-1][1] if row.actions else None
    function = _WRITTEN_AS.get(function, function)
    if not isinstance(last, _Call) or last.function != function:
        last = _Call(function)
        row.actions.append((operation.visible, last))
    elif operation.visible:
        row.actions[-1] = (True, last)
    last.writes |= operation.written is not None
    info = names.object(operation.address)
    own = info.kind == "thread" and info.owner == operation.thread
    if info.kind == "thread" and operation.address == info.base + THREAD_SIGNALLED:
        if not own:
            last.wakes.append(names.thread(info.owner))
        elif operation.kind == "load":
            last.woken = bool(operation.read)
        return
    if own or names.is_library(operation.address):
        return  # the library's own notes
    place = names.place(operation.address, operation.size, operation.thread)
    name = place.name if info.kind == "thread" else f"&{place.name}"
    if place.type is None and info.kind == "heap":
        name = names.name(info, operation.thread)
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
            status = (operation.written or 0) & 0xFF
            return Action("exit", f"exits with status {status}" if status else "exits")
        case "return":
            return Action("return", f"returns {signed(operation.written or 0, 32)}")
        case "choose":
            value = str(operation.read)
            return Action("choose", f"chooses {value} (of 0 to {(operation.written or 1) - 1})", read=value)
        case _:
            return Action("stop", f"stops here: {_why_stopped(source.instruction(operation.frames[0]))}")


def _is_spurious(instruction: Instruction) -> bool:
    return instruction.result is not None and instruction.result.name.startswith(roles.SPURIOUS)


def _why_stopped(instruction: Instruction) -> str:
    match instruction:
        case Assume(origin="loop"):
            return "the loop would only go round again"
        case Assume(origin="bound"):
            return "the loop has gone round as often as it may"
        case _:
            return "an assumption is false"


def _finish(row: _Row, source: Source, names: Names) -> TraceStep:
    position = row.position
    return TraceStep(
        step=row.step,
        thread=names.thread(row.thread),
        file=position.file if position else None,
        line=position.line if position else None,
        function=position.function if position else None,
        statement=source.statement(position) if position else None,
        actions=tuple(action for actions in row.tell() for action in actions),
        setup=row.setup,
        failed=row.failed,
        omitted=row.omitted,
        distance=row.distance,
    )


def _bytes(count: int) -> str:
    return f"{count} byte" if count == 1 else f"{count} bytes"
