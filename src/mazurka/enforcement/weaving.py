"""Weaves calls of the scheduler into the LLVM text of a program.

Around a load, a store or an atomic operation that is an event, `mazurka_access` waits until the schedule allows it and
gives the address to use, and `mazurka_accessed` tells the others that it is over. The address comes out of a function
that the optimiser knows nothing of, so it cannot move the access away from where it is. A library function that is an
event is replaced by the scheduler's own, which gets the number of the point as its first argument.

The text that is checked can differ from the one that is built: the macro `__MAZURKA__` is defined only for the first.
Instructions are found again by their source position, the kind of instruction, and which of several such it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mazurka.errors import InputError

# The library functions that the runtime has in its own form.
OPERATIONS = frozenset((
    "pthread_mutex_init", "pthread_mutex_destroy", "pthread_mutex_lock", "pthread_mutex_trylock",
    "pthread_mutex_unlock", "mtx_init", "mtx_destroy", "mtx_lock", "mtx_trylock", "mtx_unlock",
    "pthread_rwlock_rdlock", "pthread_rwlock_wrlock",
    "pthread_rwlock_tryrdlock", "pthread_rwlock_trywrlock", "pthread_rwlock_unlock", "pthread_spin_lock",
    "pthread_spin_trylock", "pthread_spin_unlock", "sem_wait", "sem_trywait", "sem_post", "pthread_cond_init",
    "pthread_cond_destroy", "pthread_cond_signal", "pthread_cond_broadcast", "pthread_cond_wait",
    "pthread_barrier_init", "pthread_barrier_destroy", "pthread_barrier_wait", "pthread_create", "pthread_join",
    "pthread_detach", "pthread_exit", "cnd_init", "cnd_destroy", "cnd_signal", "cnd_broadcast", "cnd_wait",
    "thrd_create", "thrd_join", "thrd_detach", "thrd_exit", "exit", "_exit", "__VERIFIER_atomic_begin",
    "pthread_once", "call_once", "free",
))  # fmt: skip

# What they give is assumed to be within limits, which the runtime looks after (runtime/arguments.c). With their types.
ASSUMED = {
    "getenv": "ptr @mazurka_assumed_getenv(ptr)",
    "__VERIFIER_nondet_range": "i32 @mazurka_assumed___VERIFIER_nondet_range(i32, i32)",
}

# They call functions of the program.
_CALLING_BACK = frozenset(("qsort", "bsearch", "atexit"))

# How a thread's calls are counted (`contexts`).
MULTIPLIER = 0x9E3779B97F4A7C15

# What most accesses need, so that they need no call: the thread's next step is this one and need not wait. It knows the
# first members of `struct thread` and `struct step` (runtime/scheduler.c, runtime/schedule.h).
_SUPPORT = """
@mazurka_self = external thread_local(initialexec) global ptr
@mazurka_context = external thread_local(initialexec) global i64
declare ptr @mazurka_access(i32, ptr)
declare void @mazurka_accessed()
declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull)

define internal ptr @mazurka.access(i32 %point, ptr %address) alwaysinline nounwind {
  %variable = call ptr @llvm.threadlocal.address.p0(ptr @mazurka_self)
  %self = load ptr, ptr %variable, align 8
  %step = load ptr, ptr %self, align 8
  %head = load i64, ptr %step, align 4
  %rest = and i64 %head, -12884901889
  %wanted = zext i32 %point to i64
  %plain = icmp eq i64 %rest, %wanted
  %expected = call i1 @llvm.expect.i1(i1 %plain, i1 true)
  br i1 %expected, label %fast, label %slow
fast:
  %next = getelementptr i8, ptr %step, i64 20
  store ptr %next, ptr %self, align 8
  %flag = and i64 %head, 8589934592
  %redirected = icmp ne i64 %flag, 0
  %area.at = getelementptr i8, ptr %self, i64 8
  %area = load ptr, ptr %area.at, align 8
  %offset.at = getelementptr i8, ptr %step, i64 12
  %offset = load i32, ptr %offset.at, align 4
  %cell = getelementptr i8, ptr %area, i32 %offset
  %target = select i1 %redirected, ptr %cell, ptr %address
  ret ptr %target
slow:
  %given = call ptr @mazurka_access(i32 %point, ptr %address)
  ret ptr %given
}

define internal void @mazurka.accessed() alwaysinline nounwind {
  %variable = call ptr @llvm.threadlocal.address.p0(ptr @mazurka_self)
  %self = load ptr, ptr %variable, align 8
  %next = load ptr, ptr %self, align 8
  %flags.at = getelementptr i8, ptr %next, i64 -16
  %all = load i16, ptr %flags.at, align 4
  %flags = and i16 %all, 5
  switch i16 %flags, label %tell [ i16 0, label %done
                                   i16 1, label %note ]
note:
  %clock.at = getelementptr i8, ptr %next, i64 -4
  %clock = load i32, ptr %clock.at, align 4
  %events = zext i32 %clock to i64
  %begun.at = getelementptr i8, ptr %self, i64 24
  %begun = load i64, ptr %begun.at, align 8
  %sum = add i64 %begun, %events
  %counter.at = getelementptr i8, ptr %self, i64 16
  %counter = load ptr, ptr %counter.at, align 8
  %old = atomicrmw xchg ptr %counter, i64 %sum seq_cst, align 8
  %sleepers.at = getelementptr i8, ptr %counter, i64 8
  %sleepers = load atomic i32, ptr %sleepers.at seq_cst, align 4
  %alone = icmp eq i32 %sleepers, 0
  br i1 %alone, label %done, label %tell
tell:
  call void @mazurka_accessed()
  br label %done
done:
  ret void
}

define internal i64 @mazurka.enter(i64 %call) alwaysinline nounwind {
  %variable = call ptr @llvm.threadlocal.address.p0(ptr @mazurka_context)
  %context = load i64, ptr %variable, align 8
  %sum = add i64 %context, %call
  %inner = mul i64 %sum, MULTIPLIER
  store i64 %inner, ptr %variable, align 8
  ret i64 %context
}

define internal void @mazurka.leave(i64 %context) alwaysinline nounwind {
  %variable = call ptr @llvm.threadlocal.address.p0(ptr @mazurka_context)
  store i64 %context, ptr %variable, align 8
  ret void
}

declare i32 @mazurka_point_here(i32)
declare i1 @llvm.expect.i1(i1, i1)
declare ptr @mazurka_before(i32, ptr)
declare void @mazurka_after()
declare void @mazurka_pass(i32)
declare void @mazurka_begin_call(i32)
declare void @mazurka_end_call()
""".replace("MULTIPLIER", str(MULTIPLIER - (1 << 64)))

_INSTRUCTION = re.compile(r"\s+(?:(%[\w.$-]+|%\"[^\"]*\") = )?(?:(?:tail|musttail|notail) )?(\w+)")
_CALLEE = re.compile(r"@([\w.$]+)\(")
_CALLED = re.compile(r"[@%](?:[\w.$-]+|\"[^\"]*\")\(")  # also through a pointer
_DEBUG = re.compile(r", !dbg !(\d+)")
_POSITION = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+), column: (\d+)")
_NAMES = re.compile(r"%[\w.$-]+|%\"[^\"]*\"|, ![\w.]+ !\d+|#\d+|@\.str[\w.]*")  # of what has another number
_DEFINE = re.compile(r"^define .*?@([\w.$]+|\"[^\"]*\")\(")


@dataclass(frozen=True, slots=True)
class Instruction:
    """What identifies an instruction in a function: where it comes from and what it is. `text` is the instruction
    without the names of temporary values: all that a macro stands for has one position."""

    function: str
    position: tuple[int, int] | None
    kind: str
    text: str


def instructions(text: str) -> Iterator[tuple[int, Instruction]]:
    """The instructions of a module with their line numbers, from 1."""
    lines = text.split("\n")
    positions = {
        match[1]: (int(match[2]), int(match[3])) for line in lines if (match := _POSITION.match(line)) is not None
    }
    function = ""
    for number, line in enumerate(lines, 1):
        if (define := _DEFINE.match(line)) is not None:
            function = define[1].strip('"')
            continue
        match = _INSTRUCTION.match(line)
        if match is None or line.startswith("   "):  # the rest of another one
            continue
        kind = match[2]
        if kind == "call":
            callee = _CALLEE.search(line)
            kind = f"call {callee[1] if callee else ''}"
        debug = _DEBUG.search(line)
        position = positions.get(debug[1]) if debug else None
        yield number, Instruction(function, position, kind, _NAMES.sub("", line))


def functions(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """The functions that a module defines, with their first line and the one after their last."""
    name, start = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if (define := _DEFINE.match(line)) is not None:
            name, start = define[1].strip('"'), number
        elif line == "}" and name:
            yield name, (start, number)
            name = ""


def same_instructions(checked: str, built: str) -> dict[int, int]:
    """For lines of one text, those of the other with the same instruction. Where one has more equal ones than the
    other, it cannot be told which are which."""
    if checked == built:
        return {number: number for number, _ in instructions(checked)}
    mine, others = _by_likeness(checked), _by_likeness(built)
    pairs = [(mine[key], others[key]) for key in mine if key in others and len(mine[key]) == len(others[key])]
    return {number: other for ones, same in pairs for number, other in zip(ones, same, strict=True)}


def _by_likeness(text: str) -> dict[Instruction, list[int]]:
    """The lines of instructions, equal ones together."""
    found: dict[Instruction, list[int]] = {}
    for number, instruction in instructions(text):
        found.setdefault(instruction, []).append(number)
    return found


def callee_at(text_line: str) -> str | None:
    """The function that a line calls by name."""
    match = _INSTRUCTION.match(text_line)
    if match is None or match[2] != "call":
        return None
    callee = _CALLEE.search(text_line)
    return callee[1] if callee else ""


@dataclass(frozen=True, slots=True)
class Woven:
    """What becomes of an instruction at a point. callee: the function that it calls; "" if that may be several, None
    if it is no call. constant: the scheduler has nothing to do there; a load gives this, an operation is left out.
    inline: it is an ordinary access. awaited: others can wait for it. contexts: the point depends on how the thread has
    come here, by this entry of the runtime's table."""

    point: int
    place: str
    callee: str | None
    contexts: int | None = None
    constant: int | None = None
    inline: bool = False
    awaited: bool = True


def weave(
    text: str,
    points: Mapping[int, Woven],
    passed: Mapping[int, Woven],
    calls: Mapping[int, int],
    assumed: Mapping[int, str],
) -> str:
    """The module with the scheduler woven in. `points`, those that are `passed` right before an instruction, and the
    numbers of `calls` that are counted are by line; `assumed` are the functions of `ASSUMED` that are called, by
    line."""
    lines = text.split("\n")
    woven: list[str] = []
    operations: set[str] = set()
    guarded: set[str] = set()
    constants: set[int] = set()
    for number, line in enumerate(lines, 1):
        if number in passed:
            woven.extend(_passing(passed[number], number, _debug(line)))
        if number in assumed:
            called = _CALLED.search(line)
            assert called is not None
            woven.append(f"{line[: called.start()]}@mazurka_assumed_{assumed[number]}({line[called.end() :]}")
            guarded.add(assumed[number])
            continue
        if number not in points:
            woven.extend(_counted(line, calls[number], number) if number in calls else [line])
            continue
        callee = points[number].callee
        point = str(points[number].point)
        if points[number].contexts is not None and points[number].constant is None:
            point = f"%mazurka.point.{number}"
            woven.append(f"  {point} = call i32 @mazurka_point_here(i32 {points[number].contexts}){_debug(line)}")
        if callee is not None:
            woven.extend(_operation(line, callee, points[number], point))
            if callee in OPERATIONS:
                operations.add(callee)
            continue
        constant = points[number].constant
        if constant is not None:
            constants.add(constant)
        woven.extend(_access(line, points[number], point, number))
    module = _without_main(optimisable("\n".join(woven)))
    support = [line for line in _SUPPORT.split("\n") if not (line.startswith("declare") and line in module)]
    declarations = [_declaration(operation, lines) for operation in sorted(operations)]
    declarations += [f"declare {ASSUMED[name]}" for name in sorted(guarded)]
    values = [f"@mazurka.constant.{value} = private unnamed_addr constant i64 {value}" for value in sorted(constants)]
    return "\n".join([module, *support, *declarations, *values, ""])


def optimisable(text: str) -> str:
    """The module as it is, without what the front end told the optimiser not to do."""
    return re.sub(
        r"^attributes #.*$", lambda line: re.sub(r" (noinline|optnone)\b", "", line[0]), text, flags=re.MULTILINE
    )


def _without_main(module: str) -> str:
    """The runtime has a `main` of its own, which calls the program's."""
    renamed = {"@main": "@mazurka_main"}
    return re.sub(r'"[^"]*"|@main\b(?![.$])', lambda found: renamed.get(found[0], found[0]), module)


def _operation(line: str, callee: str, woven: Woven, point: str) -> Iterator[str]:
    match = _INSTRUCTION.match(line)
    if woven.constant is not None:
        yield f"  {match[1]} = add i32 0, 0" if match and match[1] else ""
    elif callee in OPERATIONS:
        called = _CALLED.search(line)
        assert called is not None
        separator = "" if line.startswith("()", called.end() - 1) else ", "
        yield f"{line[: called.start()]}@mazurka_do_{callee}(i32 {point}{separator}{line[called.end() :]}"
    elif not callee or callee in _CALLING_BACK:
        what = (
            f"{callee}, which calls back; write out what it does"
            if callee
            else "a call through a pointer to several functions, of which one is of the library; use their names"
        )
        raise InputError(f"{woven.place}: a native build cannot schedule {what}")
    else:  # what it touches is one event, and inside of it there are none
        yield f"  call void @mazurka_begin_call(i32 {point}){_debug(line)}"
        yield line
        yield f"  call void @mazurka_end_call(){_debug(line)}"


def _passing(woven: Woven, number: int, debug: str) -> Iterator[str]:
    """A thread comes by: what happens here concerns only itself, but the schedule has something to say."""
    point = str(woven.point)
    if woven.contexts is not None:
        point = f"%mazurka.passing.{number}"
        yield f"  {point} = call i32 @mazurka_point_here(i32 {woven.contexts}){debug}"
    yield f"  call void @mazurka_pass(i32 {point}){debug}"


def _counted(line: str, call: int, number: int) -> Iterator[str]:
    """A call that others can tell apart from calls of the same function."""
    suffix = _debug(line)
    yield f"  %mazurka.context.{number} = call i64 @mazurka.enter(i64 {call}){suffix}"
    yield line
    yield f"  call void @mazurka.leave(i64 %mazurka.context.{number}){suffix}"


def _debug(line: str) -> str:
    found = _DEBUG.search(line)
    return found[0] if found else ""


def _access(line: str, woven: Woven, point: str, number: int) -> Iterator[str]:
    match = _INSTRUCTION.match(line)
    if match is not None and match[2] == "ret":  # the end of local variables that others can reach
        yield f"  %mazurka.{number} = call ptr @mazurka_before(i32 {point}, ptr null){_debug(line)}"
        yield f"  call void @mazurka_after(){_debug(line)}"
        yield line
        return
    if match is None or match[2] not in ("load", "store", "atomicrmw", "cmpxchg"):
        raise InputError(f"{woven.place}: a native build cannot schedule '{line.strip()}'")
    start, end = _address(line, match[2])
    if woven.constant is not None:
        yield f"{line[:start]}@mazurka.constant.{woven.constant}{line[end:]}"
        return
    before, after = ("mazurka.access", "mazurka.accessed") if woven.inline else ("mazurka_before", "mazurka_after")
    suffix = _debug(line)
    yield f"  %mazurka.{number} = call ptr @{before}(i32 {point}, ptr {line[start:end]}){suffix}"
    yield f"{line[:start]}%mazurka.{number}{line[end:]}"
    if woven.awaited or not woven.inline:
        yield f"  call void @{after}(){suffix}"


def _address(line: str, kind: str) -> tuple[int, int]:
    """Where in the line the operand is that says what is accessed."""
    parts = _operands(line)
    start, end = parts[1] if kind in ("load", "store") else parts[0]
    at = line.index("ptr ", start, end) + len("ptr ")
    operand = re.match(r"[%@](?:[\w.$-]+|\"[^\"]*\")", line[at:end])
    if operand is not None:
        return at, at + operand.end()
    depth = 0  # a constant expression, up to the parenthesis that closes it
    for position in range(at, end):
        if line[position] == "(":
            depth += 1
        elif line[position] == ")":
            depth -= 1
            if depth == 0:
                return at, position + 1
    return at, end


def _operands(line: str) -> list[tuple[int, int]]:
    """The parts of an instruction between the commas that are not inside of brackets."""
    parts: list[tuple[int, int]] = []
    depth = start = 0
    quoted = False
    for position, character in enumerate(line):
        if character == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append((start, position))
            start = position + 1
    return [*parts, (start, len(line))]


def _declaration(operation: str, lines: list[str]) -> str:
    declared = re.compile(rf"^declare (.*)@{operation}\((.*?)\)")
    for line in lines:
        match = declared.match(line)
        if match is not None:
            result = re.sub(r"\b(noundef|nonnull|signext|zeroext|noalias|dso_local) ", "", match[1])
            parameters = f"i32, {match[2]}" if match[2] else "i32"
            return f"declare {result}@mazurka_do_{operation}({parameters})"
    raise InputError(
        f"'{operation}' is defined by the program itself, or called through a pointer that comes from another file; a "
        "native build schedules only the library's, where it is declared"
    )
