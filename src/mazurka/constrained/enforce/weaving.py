"""Weaves calls of the scheduler into the LLVM text of a program.

Around a load, a store or an atomic operation that is an event, `mazurka_access` waits until the schedule allows it and
gives the address to use, and `mazurka_accessed` tells the others that it is over. The address comes out of a function
that the optimiser knows nothing of, so it cannot move the access away from where it is. A library function that is an
event is replaced by the scheduler's own, which gets the number of the point as its first argument.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mazurka.errors import InputError
from mazurka.frontends.c.llvm.editor import Editor
from mazurka.frontends.c.llvm.instruction import ACCESSES, LLVMInstruction
from mazurka.frontends.c.llvm.module import Module
from mazurka.frontends.c.roles import SCHEDULED, operations

# What they give is assumed to be within limits, which the runtime looks after (runtime/arguments.c). With their types.
ASSUMED = {
    "getenv": "ptr @mazurka_assumed_getenv(ptr)",
    "__VERIFIER_nondet_range": "i32 @mazurka_assumed___VERIFIER_nondet_range(i32, i32)",
}

# They call functions of the program.
_CALLING_BACK = operations("call", of=["function"])

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
    module: Module,
    points: Mapping[int, Woven],
    passed: Mapping[int, Woven],
    calls: Mapping[int, int],
    assumed: Mapping[int, str],
) -> str:
    """The module with the scheduler woven in. `points`, those that are `passed` right before an instruction, and the
    numbers of `calls` that are counted are by line; `assumed` are the functions of `ASSUMED` that are called, by
    line."""
    editor = Editor(module)
    for _, instruction in module.instructions():
        number = instruction.line
        if number in passed:
            _pass(editor, instruction, passed[number])
        if number in assumed:
            editor.replace(instruction, instruction.with_callee(f"mazurka_assumed_{assumed[number]}"))
        elif number in points:
            _weave_point(editor, instruction, points[number])
        elif number in calls:
            _count(editor, instruction, calls[number])
    _make_optimisable(editor)
    editor.rename("main", "mazurka_main")  # the runtime has one of its own, which calls the program's
    editor.append(*_SUPPORT.split("\n"))
    called = {woven.callee for woven in points.values() if woven.callee in SCHEDULED}
    editor.append(*(_declaration(operation, module) for operation in sorted(filter(None, called))))
    editor.append(*(f"declare {ASSUMED[name]}" for name in sorted(set(assumed.values()))))
    constants = {woven.constant for woven in points.values() if woven.callee is None and woven.constant is not None}
    editor.append(
        *(f"@mazurka.constant.{value} = private unnamed_addr constant i64 {value}" for value in sorted(constants)), ""
    )
    return editor.text()


def optimisable(module: Module) -> str:
    """The module as it is, without what the front end told the optimiser not to do."""
    editor = Editor(module)
    _make_optimisable(editor)
    return editor.text()


def _make_optimisable(editor: Editor) -> None:
    editor.drop_attributes("noinline", "optnone")


def _weave_point(editor: Editor, instruction: LLVMInstruction, woven: Woven) -> None:
    if woven.constant is not None:
        _weave_constant(editor, instruction, woven)
        return
    point = str(woven.point)
    if woven.contexts is not None:
        point = f"%mazurka.point.{instruction.line}"
        editor.before(instruction, f"{point} = call i32 @mazurka_point_here(i32 {woven.contexts})")
    if woven.callee is not None:
        _weave_call(editor, instruction, woven, point)
    else:
        _weave_access(editor, instruction, woven, point)


def _weave_constant(editor: Editor, instruction: LLVMInstruction, woven: Woven) -> None:
    """The scheduler has nothing to do: an operation is left out, a load gets a constant, a store goes nowhere."""
    if woven.callee is None:
        _require_access(instruction, woven)
        editor.replace(instruction, instruction.with_address(f"@mazurka.constant.{woven.constant}"))
    else:
        editor.replace(instruction, f"  %{instruction.result} = add i32 0, 0" if instruction.result else "")


def _weave_call(editor: Editor, instruction: LLVMInstruction, woven: Woven, point: str) -> None:
    callee = woven.callee
    if callee in SCHEDULED:
        editor.replace(instruction, instruction.with_callee(f"mazurka_do_{callee}", f"i32 {point}"))
    elif not callee or callee in _CALLING_BACK:
        what = (
            f"{callee}, which calls back; write out what it does"
            if callee
            else "a call through a pointer to several functions, of which one is of the library; use their names"
        )
        raise InputError(f"{woven.place}: a native build cannot schedule {what}")
    else:  # what it touches is one event, and inside of it there are none
        editor.before(instruction, f"call void @mazurka_begin_call(i32 {point})")
        editor.after(instruction, "call void @mazurka_end_call()")


def _weave_access(editor: Editor, instruction: LLVMInstruction, woven: Woven, point: str) -> None:
    new = f"%mazurka.{instruction.line}"
    if instruction.opcode == "ret":  # the end of local variables that others can reach
        editor.before(
            instruction, f"{new} = call ptr @mazurka_before(i32 {point}, ptr null)", "call void @mazurka_after()"
        )
        return
    _require_access(instruction, woven)
    before, after = ("mazurka.access", "mazurka.accessed") if woven.inline else ("mazurka_before", "mazurka_after")
    editor.before(instruction, f"{new} = call ptr @{before}(i32 {point}, ptr {instruction.address_text})")
    editor.replace(instruction, instruction.with_address(new))
    if woven.awaited or not woven.inline:
        editor.after(instruction, f"call void @{after}()")


def _require_access(instruction: LLVMInstruction, woven: Woven) -> None:
    if instruction.opcode not in ACCESSES:
        raise InputError(f"{woven.place}: a native build cannot schedule '{instruction.text.strip()}'")


def _pass(editor: Editor, instruction: LLVMInstruction, woven: Woven) -> None:
    """A thread comes by: what happens here concerns only itself, but the schedule has something to say."""
    point = str(woven.point)
    if woven.contexts is not None:
        point = f"%mazurka.passing.{instruction.line}"
        editor.before(instruction, f"{point} = call i32 @mazurka_point_here(i32 {woven.contexts})")
    editor.before(instruction, f"call void @mazurka_pass(i32 {point})")


def _count(editor: Editor, instruction: LLVMInstruction, call: int) -> None:
    """A call that others can tell apart from calls of the same function."""
    context = f"%mazurka.context.{instruction.line}"
    editor.before(instruction, f"{context} = call i64 @mazurka.enter(i64 {call})")
    editor.after(instruction, f"call void @mazurka.leave(i64 {context})")


def _declaration(operation: str, module: Module) -> str:
    if operation not in module.symbols or module.symbols[operation].defined:
        raise InputError(
            f"'{operation}' is defined by the program itself, or called through a pointer that comes from another "
            "file; a native build schedules only the library's, where it is declared"
        )
    returns, parameters = module.signature(operation)
    return f"declare {returns} @mazurka_do_{operation}({', '.join(filter(None, ('i32', parameters)))})"
